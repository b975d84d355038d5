"""A panel for any registered view: its question, its controls, its figure. Made from the view's record at run time."""

from vitexplorer.ui.panel.figure_panel import (
    FigurePanel,
    PanelData,
    PanelWork,
    Shelf,
    attempted,
    bare_data,
    of_views,
    panel_data,
    work_data,
)

__all__ = [
    "FigurePanel",
    "PanelData",
    "PanelWork",
    "Shelf",
    "attempted",
    "bare_data",
    "of_views",
    "panel_data",
    "work_data",
]
