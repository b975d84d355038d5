"""Files of weights, whoever wrote them: read without running code, recognised by their names, put under timm's.

`files` reads one file, `contents` a folder and `zipped` a zip of one; a reader (`readers`, one file a library) says
whether the names are its library's and puts timm's in their place; an outline (`outlines`, one file a class of timm's)
tells the architecture from names and shapes, and a table (`fits`) those of other classes. `recognise` joins them.
"""

from vitexplorer.models.checkpoints.files import (
    MOST_CLASSES,
    SUFFIXES,
    WeightsError,
    check_classes,
    count_classes,
    read_state_dict,
)

__all__ = ["MOST_CLASSES", "SUFFIXES", "WeightsError", "check_classes", "count_classes", "read_state_dict"]
