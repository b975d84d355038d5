"""Methods of fine-tuning: one file, one METHOD. None imports another; what they share is in `parts`."""

from vitexplorer.core.registry import Registry
from vitexplorer.finetune.method import Method

METHODS: Registry[Method] = Registry("method", __name__, "METHOD")
