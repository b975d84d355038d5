"""The checker behind every annotated function of the package while tests run: beartype, with int allowed for float."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
