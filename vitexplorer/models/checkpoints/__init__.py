"""Files of weights, whoever wrote them: read without running code, recognised by their names, put under timm's.

`files` reads one file and `contents` a folder; a reader (`readers`, one file a library) says whether the names are its
library's and puts timm's in their place; an outline (`outlines`, one file a class of timm's) tells the architecture
from names and shapes. `recognise` joins them.
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
