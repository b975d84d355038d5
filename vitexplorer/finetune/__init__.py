"""Fine-tuning, room by room, from what enters to what leaves:

- `data/`            a folder, a .zip or a table of images, read, looked at and split
- `method.py`        what a method is and is able to do; `methods/` one file each; `parts/` what they hang into a model
- `attaching.py`     a private copy of a model with a method in it, which is again a model like any other
- `trained_parts.py` what of it trains, from which block on, in which groups of an optimizer
- `job/`             methods to be trained on one split: what is asked, what is told, where it lies; no torch
- `training/`        the work on a job: features, estimates, one run after the other
- `results/`         what a run leaves behind, and how sure its figures are; no torch
- `in_process.py`    `finetune` and `compare`: a job in this process; `comparison.py` what a job found, read back
- `storing.py`       a tuned model as a file; `peft.py` as Hugging Face's; `takeaway.py` for elsewhere
- `preview.py`       what a method would cost, before it; `change.py` what it changed, after it
- `outcome.py`       results as figures draw them; `submission.py` answers for images without labels

A method is one file in `methods/` that defines a `Method` (method.py). What it promises to whoever trains it:

- `attach(model, method, num_classes, seed=0, **settings) -> TunedModel` is a private copy, a `LoadedModel` like any
  other, in eval mode. **What trains is what requires a gradient**: `trainable(module)` names it, the new head included;
  everything else must come out of training bit for bit as it went in.
- `train_mode(tuned, drop_path=None)` puts what trains into training mode and leaves frozen batch norms and dropouts in
  eval mode; it also switches stochastic depth on, at the recipe's rate. `tuned.module.eval()` ends it. What is run
  once and kept for all epochs is run in eval mode.
- `parameter_groups(tuned, learning_rate=None, weight_decay=None)` are an optimizer's groups. None takes the method's
  recipe: learning rates differ by a factor of 100 between methods and are never shared; vectors and prompts are not
  decayed.
- `trained(tuned)` is the same model, said to be fine-tuned in every caption; call it when training ends.
- `learned(module)` are the tensors that training changes: parameters that train and statistics of batch norms
  that train. They are what `save_tuned` writes and all that a checkpoint of a run needs of the model.
- `attach(weightless(model), ...)` costs no memory: counts before training; `refusal(model, method)` says why not.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vitexplorer.finetune.results.records import FinetuneResult


def finetune(
    folder: str | os.PathLike,
    model: str,
    method: str = "lora",
    epochs: int = 10,
    out: str | os.PathLike | None = None,
    **controls: Any,
) -> FinetuneResult:
    """Train one method on a folder of images; `in_process.finetune` says what it takes and raises."""
    from vitexplorer.finetune import in_process

    return in_process.finetune(folder, model, method, epochs, out, **controls)
