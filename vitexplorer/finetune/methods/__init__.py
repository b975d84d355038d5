"""Fine-tuning methods: one METHOD in each file. None imports another; shared modules are in `parts`."""

from vitexplorer.core.registry import Registry
from vitexplorer.finetune.method import Method

METHODS: Registry[Method] = Registry("method", __name__, "METHOD")
