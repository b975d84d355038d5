"""The process of one job: `python -m vitexplorer.finetune.training.process FOLDER`, also under `accelerate launch`.

It claims the job before anything heavy is imported, so that whoever started it soon knows that it runs.
"""

from __future__ import annotations

import gc
import sys
from contextlib import nullcontext
from pathlib import Path

from vitexplorer.core.text import ExplainedError
from vitexplorer.storage.claims import claimed, is_first_process


def main(folder: Path) -> int:
    """Work until the job ends; the exit code says how: 0 finished or stopped, 2 a sentence, told as an event too."""
    try:
        with claimed(folder) if is_first_process() else nullcontext():
            gc.disable()  # nothing that is imported is garbage, and looking for some slows the start
            from vitexplorer.finetune.training.whole_job import do_job

            gc.freeze()
            gc.enable()
            do_job(folder)
    except ExplainedError as error:
        print(error.text.en, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute()))
