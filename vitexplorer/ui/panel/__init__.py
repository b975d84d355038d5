"""Panel for any registered view: its question, controls and figure, made from the view's record at run time."""

from vitexplorer.ui.panel.figure_panel import (
    FigurePanel,
    PanelData,
    PanelWork,
    ViewSource,
    bare_data,
    capture_views,
    panel_data,
    result_or_error,
    work_data,
)

__all__ = [
    "FigurePanel",
    "PanelData",
    "PanelWork",
    "ViewSource",
    "bare_data",
    "capture_views",
    "panel_data",
    "result_or_error",
    "work_data",
]
