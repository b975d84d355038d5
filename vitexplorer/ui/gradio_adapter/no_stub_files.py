"""Import gradio without updating its stub files; import this module before gradio.

For each component class gradio parses the source and the `.pyi` file beside it, and rewrites the file if they differ.
Only editors read these files, and the check took a third of gradio's import time. So the module that does it is loaded
and patched before the package, whose own import defines most of these classes.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec

spec = None if "gradio" in sys.modules else find_spec("gradio")
if spec:
    sys.modules["gradio"] = module_from_spec(spec)
import_module("gradio.component_meta").create_or_modify_pyi = lambda *_: None
if spec:
    spec.loader.exec_module(sys.modules["gradio"])
