"""Command `app`, which opens the page, like `python app.py`."""

from __future__ import annotations

import gc
from collections.abc import Callable

from vitexplorer.core.text import Language


def command(_language: Language) -> Callable[..., None]:
    """Return the command."""
    return open_page


def open_page() -> None:
    """Serve the page with the settings of the environment until the process is stopped."""
    gc.disable()  # until the page is open: imports create no garbage, and collecting slows the start
    from vitexplorer.ui import main

    main()
