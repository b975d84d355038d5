"""Weight files of many libraries: read without running code, recognised by tensor names, renamed to timm's.

`files` reads one file, `contents` a folder and `zipped` a zip of a folder. A reader (`readers`, one file for each
library) recognises its library's names and replaces them by timm's. An outline (`outlines`, one file for each timm
class) derives the architecture from names and shapes; a table (`fits`) covers the other classes. `recognise` combines
them.
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
