"""Drawn scenes, each a pure function of the name of a stream and a number; no files.

`one` object, `several` objects, `creatures` whose parts can be taken away; `paper` is what they are drawn with.
"""

from vitexplorer.scenes.one import Scene, draw_scene
from vitexplorer.scenes.streams import STREAMS, VERSION

__all__ = ["STREAMS", "VERSION", "Scene", "draw_scene"]
