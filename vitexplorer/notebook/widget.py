"""`vx.widget(capture)`: the attention canvas of the page in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language, Text, UnsupportedError

if TYPE_CHECKING:
    from vitexplorer.notebook.attention_widget import AttentionWidget

NOT_INSTALLED = Text(
    "The widget needs the package anywidget: `pip install anywidget`, then start the notebook's kernel again.",
    "该组件需要软件包 anywidget：请运行 `pip install anywidget`，然后重启笔记本内核。",
)


def widget(capture: Capture, *, language: Language | None = None, **chosen: Any) -> AttentionWidget:
    """Show every head of a block on the image, to explore with the mouse, in Jupyter, Colab or VS Code.

    Needs no server: the attention of the current block is sent with the widget's state.

        shown = vx.widget(capture, block=3)
        shown.query        # the patch that was clicked: (row, col), or "cls", "dist", "mean"
        shown.head = 2     # shows it

    Args:
        capture: from `capture`, or a changed run from `intervene`.
        language: language of the texts; None takes `VIT_LANGUAGE`.
        chosen: initial values of block, head, query, mode, colormap, opacity, scale, keep_mass, smooth.

    Raises:
        UnsupportedError: anywidget is not installed; the message says how to install it.
        SettingError: the model has no such block, head or query.
    """
    try:
        import anywidget  # noqa: F401
    except ImportError:
        raise UnsupportedError(NOT_INSTALLED) from None
    from vitexplorer.notebook.attention_widget import AttentionWidget

    return AttentionWidget(capture, language or settings().language, **chosen)
