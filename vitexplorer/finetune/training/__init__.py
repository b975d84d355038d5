"""Execution of a job in the process that claimed it: `whole_job.py` runs it, `process.py` is the entry point.

before    `setup.py` state shared by all runs; `cached_features.py` and `results/baseline.py` the baseline to beat;
          `estimate.py` cost from two batches
images    `pixels.py` batches of images; `feeds.py` the inputs of a run
frozen    `cut.py` a network in two parts; `cut_search.py` search for the cut; `below_cache.py` cache of its inputs
learning  `loop.py` one run; `steps.py` images and learning rate of each step; `objective.py` the loss; `checkpoint.py`
"""
