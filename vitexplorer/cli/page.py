"""Command `app`, which opens the page, like `python app.py`."""

from __future__ import annotations

import gc

from vitexplorer.core.text import Text

HELP = Text("Open the page. Settings are environment variables, VIT_*.", "打开网页。设置项为环境变量 VIT_*。")


def open_page() -> None:
    """Serve the page with the settings of the environment until the process is stopped."""
    gc.disable()  # until the page is open: imports create no garbage, and collecting slows the start
    from vitexplorer.ui import main

    main()
