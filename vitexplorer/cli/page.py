"""The command that opens the page: `vitexplorer app`, which is `python app.py`."""

from __future__ import annotations

import gc

from vitexplorer.core.text import Text

HELP = Text("Open the page. Settings are environment variables, VIT_*.", "打开网页。设置项为环境变量 VIT_*。")


def open_page() -> None:
    """Serve the page, as the environment says, until the process is stopped."""
    gc.disable()  # until the page is open: nothing that is imported is garbage, and looking for some slows the start
    from vitexplorer.ui import main

    main()
