"""Components of our own without the stub file that gradio writes beside each of them, from its parsed source.

Nobody reads it, it is not renewed with the source, and to look after it took 10 ms a class at every start.
"""

from __future__ import annotations

from typing import Any

from gradio import component_meta


class Unstubbed(component_meta.ComponentMeta):
    """The class of a class of components that has no stub file."""

    def __new__(cls, *class_arguments: Any) -> Unstubbed:
        """As gradio's, the stub apart."""
        write = component_meta.create_or_modify_pyi
        component_meta.create_or_modify_pyi = lambda *_: None
        try:
            return super().__new__(cls, *class_arguments)
        finally:
            component_meta.create_or_modify_pyi = write
