"""Process of one job: `python -m vitexplorer.finetune.training.process FOLDER`, also under `accelerate launch`.

It claims the job before heavy imports, so that the starter soon knows that it runs.
"""

from __future__ import annotations

import gc
import sys
from contextlib import nullcontext
from pathlib import Path

from vitexplorer.core.text import ExplainedError
from vitexplorer.storage.claims import claimed, is_first_process


def main(folder: Path) -> int:
    """Run the job; return exit code 0 if finished or stopped, 2 after an explained error, which is an event too."""
    try:
        with claimed(folder) if is_first_process() else nullcontext():
            gc.disable()  # imports create no garbage, and collecting slows the start
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
