"""Methods of fine-tuning: one file, one METHOD. None imports another; what they share is in `parts`."""

from vitexplorer.finetune.method import Method
from vitexplorer.registry import Registry

METHODS: Registry[Method] = Registry("method", __name__, "METHOD")
