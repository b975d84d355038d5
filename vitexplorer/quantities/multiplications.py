"""Counts the multiply-accumulates of one forward pass, operation by operation, and says where each belongs.

The formulas are torch's own (`torch.utils.flop_counter`, floating point operations; a multiply-accumulate is two):
matrix products and convolutions, also those inside fused attention; norms, softmax, activations and sums are free.
`FlopCounterMode` itself would do, but it hooks every module of the process while it counts, and others may be using
theirs. Here two modes, local to the thread, watch one pass: torch functions tell which parameter is in use, dispatched
operations what is multiplied. An operation with no parameter of its own, as attention's two products, belongs where
the last one was.

Nothing is computed: the pass runs on a copy of the module without storage (`models.weightless`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from vitexplorer.core.text import Text

PROJECTIONS, PRODUCTS, MLP, OTHER = range(4)
KINDS = (
    Text("projections to queries, keys, values and back", "查询、键、值及输出投影"),
    Text("attention: products of queries with keys, and of weights with values", "注意力：查询与键、权重与值的乘积"),
    Text("MLP", "MLP"),
    Text("everything else", "其余部分"),
)
_OF_ACTIVATIONS = ("bmm", "scaled_dot_product")


@dataclass
class Multiplications:
    """Multiply-accumulates by the parameter that was last in use, and whether they are products of activations."""

    of_parameter: Counter[str] = field(default_factory=Counter)
    of_attention: Counter[str] = field(default_factory=Counter)
    at: str = ""

    @property
    def used(self) -> list[str]:
        """Parameters at which something was multiplied, in the order of the pass."""
        return list({**self.of_parameter, **self.of_attention})

    @property
    def total(self) -> int:
        """All of them."""
        return self.of_parameter.total() + self.of_attention.total()


class _Where(TorchFunctionMode):
    """Notes which parameter each torch function takes."""

    def __init__(self, names: dict[int, str], found: Multiplications):
        super().__init__()
        self._names, self._found = names, found

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        for value in (*args, *kwargs.values()):
            if isinstance(value, Tensor) and id(value) in self._names:
                self._found.at = self._names[id(value)]
                break
        return function(*args, **kwargs)


class _What(TorchDispatchMode):
    """Counts what each operation multiplies."""

    def __init__(self, found: Multiplications):
        super().__init__()
        self._found = found

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = operation(*args, **kwargs)
        formula = flop_registry.get(operation.overloadpacket)
        if formula is not None:
            is_attention = any(word in operation.overloadpacket.__name__ for word in _OF_ACTIVATIONS)
            counts = self._found.of_attention if is_attention else self._found.of_parameter
            counts[self._found.at] += formula(*args, **kwargs, out_val=out) // 2
        return out


@contextmanager
def counting(names: dict[int, str]) -> Iterator[Multiplications]:
    """Counts what this thread multiplies inside, by the names of parameters, given by their ids."""
    found = Multiplications()
    with _Where(names, found), _What(found):
        yield found


def count_multiplications(module: nn.Module, size: tuple[int, int]) -> Multiplications:
    """One colour image of (height, width) pixels through a module from `without_storage`."""
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    pixels = torch.empty(1, 3, *size, device="meta")
    with torch.no_grad(), counting(names) as found:
        module(pixels)
    return found


# ---------------------------------------------------------------------------------------------- where they belong


def part_of(parameter: str, blocks: list[str]) -> str:
    """The row a parameter belongs to: `patch_embed`, `block 3`, `downsample 1`, `head`, ..."""
    for number, block in enumerate(blocks):
        if parameter.startswith(f"{block}."):
            return f"block {number}"
    if merging := re.match(r"layers\.(\d+)\.downsample\.", parameter):
        return f"downsample {merging[1]}"
    return parameter.split(".")[0]


def kind_of(parameter: str, part: str) -> int:
    """What a parameter multiplies, a place in `KINDS`. A parallel block's joint projection counts as a projection."""
    if not part.startswith("block ") or ".cpb_mlp." in parameter:
        return OTHER
    return MLP if re.search(r"\.mlp(\.|_out_proj\.)", parameter) else PROJECTIONS


def table(found: Multiplications, blocks: list[str]) -> dict[str, list[int]]:
    """For each part its MACs by kind, in the order of the forward pass."""
    rows: dict[str, list[int]] = {}
    for parameter in found.used:
        part = part_of(parameter, blocks)
        row = rows.setdefault(part, [0] * len(KINDS))
        row[kind_of(parameter, part)] += found.of_parameter[parameter]
        row[PRODUCTS] += found.of_attention[parameter]
    return rows
