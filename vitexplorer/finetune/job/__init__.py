"""A job: one or more methods to be trained on one split of one set of images. All of it lies in a folder. No torch.

asked     `plan.py` the plan, the methods, the data, the model; `images.py` the data read and split
kept      `folder.py` the files and what they must hold; `storage/record_file.py` reads and writes them
told      `events.py` what happened, line by line; `state.py` how far it is
detached  `detached.py` start, stop, resume, delete from a page that may go away; `workers.py` the processes;
          `claims.py` whose a job is
"""
