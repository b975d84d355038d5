"""Imports gradio without the stub files that it keeps up to date; import this file before gradio.

For each class of a component gradio parses the source and the `.pyi` file beside it, and writes the file anew where the
two differ. Editors read them, the page does not, and it was a third of the time that importing gradio takes. So the
module that does it is loaded before the package, whose own import defines most of these classes.
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
