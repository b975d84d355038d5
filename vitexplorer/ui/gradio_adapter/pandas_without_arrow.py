"""pandas without pyarrow: gradio imports the one, which loads the other where there is one, and the page uses neither.

It was a tenth of a second of the start. To import this file is enough, before gradio; whoever asks for pyarrow itself,
as surveys do, gets it as ever.
"""

from __future__ import annotations

import sys
from importlib import import_module

if "pyarrow" not in sys.modules:
    sys.modules["pyarrow"] = None  # its import fails now, as where it is not installed
    try:
        import_module("pandas")
    finally:
        del sys.modules["pyarrow"]
