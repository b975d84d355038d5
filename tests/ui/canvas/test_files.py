"""Files of a capture are deleted with it."""

from __future__ import annotations

import gc

import vitexplorer as vx
from tests.helpers.attention_payload import BROWSER
from tests.helpers.small_models import load_small, picture
from vitexplorer.ui.canvas.files import block_address


def test_the_files_of_a_capture_go_with_it() -> None:
    capture = vx.capture(load_small("vit"), picture(64, 64))
    address = block_address(capture, 0)
    assert BROWSER.get(address.url[1:]).status_code == 200
    del capture
    gc.collect()
    assert BROWSER.get(address.url[1:]).status_code == 404
