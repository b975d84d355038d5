"""Types of gradio that annotations of the page need and that gradio does not export."""

from gradio.block_function import BlockFunction as BlockFunction  # one event of the page with its function
from gradio.blocks import Block as Block  # what an event writes to: a component, or a layout such as the tabs
from gradio.events import Dependency as Dependency  # what binding an event returns, on which `.then` is called
