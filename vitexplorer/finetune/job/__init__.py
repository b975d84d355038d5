"""Jobs: one or more methods to train on one split of a dataset, stored in a folder. No torch.

configuration  `plan.py` the plan, the methods, the data, the model; `images.py` reads and splits the data
files          `folder.py` names and records of the files; `storage/record_file.py` reads and writes them
progress       `events.py` the log of events; `state.py` the state of a job derived from it
processes      `detached.py` start, stop, resume and delete jobs that outlive the page; `storage/workers.py` their
               processes; `storage/claims.py` the claim of a process on a job
"""
