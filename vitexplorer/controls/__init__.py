"""Controls: one file, one kind of setting. What a person, a URL or a command line gives is checked here, once."""

from vitexplorer.controls.any_target import AnyTargetControl as AnyTargetControl
from vitexplorer.controls.any_target import like_capture as like_capture
from vitexplorer.controls.any_target import likeness as likeness
from vitexplorer.controls.block import BlockControl as BlockControl
from vitexplorer.controls.block import no_such_block as no_such_block
from vitexplorer.controls.choice import Choice as Choice
from vitexplorer.controls.choice import Several as Several
from vitexplorer.controls.control import Control as Control
from vitexplorer.controls.control import checked as checked
from vitexplorer.controls.control import departures as departures
from vitexplorer.controls.control import specs as specs
from vitexplorer.controls.control import written_value as written_value
from vitexplorer.controls.head import HeadControl as HeadControl
from vitexplorer.controls.heads import HeadsControl as HeadsControl
from vitexplorer.controls.images import ImagesControl as ImagesControl
from vitexplorer.controls.images import NamedCapture as NamedCapture
from vitexplorer.controls.images import named_images as named_images
from vitexplorer.controls.methods import MethodsControl as MethodsControl
from vitexplorer.controls.number import Number as Number
from vitexplorer.controls.patches import PatchesControl as PatchesControl
from vitexplorer.controls.query import QueryControl as QueryControl
from vitexplorer.controls.sharpest import sharpest_patch as sharpest_patch
from vitexplorer.controls.spec import Spec as Spec
from vitexplorer.controls.switch import Switch as Switch
from vitexplorer.controls.target import TargetControl as TargetControl
from vitexplorer.controls.token import TokenControl as TokenControl
