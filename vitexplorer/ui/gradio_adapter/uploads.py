"""Files sent by gradio's buttons and clients, read by gradio's own reader."""

from __future__ import annotations

import math
from pathlib import Path

from gradio.route_utils import upload_fn
from starlette.requests import Request


async def files_sent(request: Request, folder: Path) -> list[str]:
    """Paths of the files of a form, written into `folder`; their size has been checked before, see `body_limits`."""
    files, _, _ = await upload_fn(request, folder, math.inf, upload_id=None)
    return [str(file) for file in files]
