"""Fine-tuning, from images to exported models.

- `data/`            a folder, a .zip or a table of images, read, looked at and split
- `method.py`        the record of a method; `methods/` one file each; `parts/` modules that they add to a model
- `attaching.py`     a private copy of a model with a method attached, again a `LoadedModel`
- `trained_parts.py` its trained parameters, optimizer groups and training mode
- `job/`             methods to train on one split: configuration, events, state and files; no torch
- `training/`        execution of a job: features, estimates, one run after the other
- `results/`         records of a run, metrics and their uncertainty; no torch
- `in_process.py`    `finetune` and `compare`: a job in this process; `comparison.py` its results, read back
- `storing.py`       a tuned model as a file; `peft.py` in Hugging Face's format; `exports.py` other exports
- `preview.py`       cost of a method before training; `change.py` its effects afterwards
- `outcome.py`       results as figure data; `submission.py` predictions for images without labels

A method is one file in `methods/` that defines a `Method` (method.py). The training code relies on these functions:

- `attach(model, method, num_classes, seed=0, **settings) -> TunedModel` is a private copy, a `LoadedModel` like any
  other, in eval mode. **Exactly the trained parameters require gradients**: `trainable(module)` names them, the head's
  included; training must leave everything else unchanged, bit for bit.
- `train_mode(tuned, drop_path=None)` puts the trained modules into training mode and leaves frozen batch norms and
  dropouts in eval mode; it also switches stochastic depth on, at the recipe's rate. `tuned.module.eval()` ends it.
  Cached features are computed in eval mode.
- `parameter_groups(tuned, learning_rate=None, weight_decay=None)` are an optimizer's groups. None takes the values of
  the method's recipe: learning rates differ by a factor of 100 between methods and are never shared; vectors and
  prompts are not decayed.
- `trained(tuned)` is the same model with the provenance "fine-tuned", for captions; call it when training ends.
- `learned(module)` are the tensors that training changes: trained parameters and the statistics of batch norms
  that train. `save_tuned` and the checkpoints of a run store exactly these.
- `attach(weightless(model), ...)` costs no memory, for counts before training; `preview(model, method, outputs)`
  says why not.
"""
