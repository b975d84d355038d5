"""The door for scripts and agents: a handful of named endpoints beside the page, on the same engine."""

from vitexplorer.ui.api.door import open_door as open_door
