"""The interventions as switches with their controls: heads and patches are picked on what they are."""

from vitexplorer.ui.changes.changes import ChangesData, ChangesPicker, changes_data

__all__ = ["ChangesData", "ChangesPicker", "changes_data"]
