"""Components of gradio and of our own without the stub files that gradio looks after whenever it is imported.

For each class it parses the source and the `.pyi` file beside it and writes the file anew where the two differ. Editors
read them, the page does not; it was a third of the time that importing gradio takes. To import this file is enough,
before gradio or after.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

_NAME = "gradio.component_meta"


class _Unstubbed(SourceFileLoader):
    """Loads the module as it stands; then its function that looks after a class's stub does nothing."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        _leave_out_stubs(module)


class Finder:
    """Finds that one module, where Python would."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """As `importlib.abc.MetaPathFinder` has it; `path` is no sequence in packages that lie in several folders."""
        if name != _NAME or (found := PathFinder.find_spec(name, path, target)) is None or not found.has_location:
            return None
        found.loader = _Unstubbed(name, found.origin)
        return found


def _leave_out_stubs(module: ModuleType) -> None:
    module.create_or_modify_pyi = lambda *_: None


if _NAME in sys.modules:
    _leave_out_stubs(sys.modules[_NAME])
sys.meta_path.insert(0, Finder)
