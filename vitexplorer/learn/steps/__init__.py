"""The steps in their order; each is one file."""

from vitexplorer.learn.step import Step
from vitexplorer.learn.steps import cut, heads

STEPS: tuple[Step, ...] = tuple(module.STEP for module in (cut, heads))
