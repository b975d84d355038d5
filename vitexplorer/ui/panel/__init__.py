"""A panel for any registered view: its question, its controls, its figure. Made from the view's record at run time."""

from vitexplorer.ui.panel.panel import PanelData, ViewPanel, panel_data, work_data

__all__ = ["PanelData", "ViewPanel", "panel_data", "work_data"]
