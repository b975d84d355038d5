"""The work on a job, in the process that claimed it. `whole_job.py` does it; `process.py` is that process.

before    `setup.py` what all runs share; `kept_features.py` and `results/baseline.py` what is to be beaten;
          `estimate.py` two batches
images    `pixels.py` batches as a model takes them; `order.py` which image in which step; `feeds.py` both for a run
frozen    `cut.py` a network in two parts; `cut_search.py` where it begins to learn; `below_cache.py` what enters there
learning  `loop.py` one run; `objective.py` and `loss.py` what is wanted; `schedule.py` how fast; `checkpoint.py`
"""
