"""Counter of the multiply-accumulates of one forward pass, operation by operation and by model part.

The formulas are torch's own (`torch.utils.flop_counter`, floating point operations; a multiply-accumulate is two):
matrix products and convolutions, also those inside fused attention; norms, softmax, activations and sums are free.
`FlopCounterMode` itself would hook every module of the process while it counts, and other threads may be using theirs.
Here two modes, local to the thread, watch one pass: torch functions show which parameter is in use, dispatched
operations what is multiplied. An operation without a parameter of its own, such as attention's two products, counts
for the last parameter used.

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
    """Multiply-accumulates by the last parameter in use; products of activations are counted apart."""

    of_parameter: Counter[str] = field(default_factory=Counter)
    of_attention: Counter[str] = field(default_factory=Counter)
    at: str = ""

    @property
    def used(self) -> list[str]:
        """Parameters at which something was multiplied, in the order of the pass."""
        return list({**self.of_parameter, **self.of_attention})

    @property
    def total(self) -> int:
        """Sum of all multiply-accumulates."""
        return self.of_parameter.total() + self.of_attention.total()


class _ParameterWatch(TorchFunctionMode):
    """Mode that records which parameter each torch function takes."""

    def __init__(self, names: dict[int, str], counts: Multiplications):
        super().__init__()
        self._names, self._counts = names, counts

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        for value in (*args, *kwargs.values()):
            if isinstance(value, Tensor) and id(value) in self._names:
                self._counts.at = self._names[id(value)]
                break
        return function(*args, **kwargs)


class _OperationCount(TorchDispatchMode):
    """Mode that counts the multiplications of each operation."""

    def __init__(self, counts: Multiplications):
        super().__init__()
        self._counts = counts

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = operation(*args, **kwargs)
        formula = flop_registry.get(operation.overloadpacket)
        if formula is not None:
            is_attention = any(word in operation.overloadpacket.__name__ for word in _OF_ACTIVATIONS)
            by_parameter = self._counts.of_attention if is_attention else self._counts.of_parameter
            by_parameter[self._counts.at] += formula(*args, **kwargs, out_val=out) // 2
        return out


@contextmanager
def counting(names: dict[int, str]) -> Iterator[Multiplications]:
    """Count the multiplications of this thread inside the context, by the names of parameters, given by their ids."""
    counts = Multiplications()
    with _ParameterWatch(names, counts), _OperationCount(counts):
        yield counts


def count_multiplications(module: nn.Module, size: tuple[int, int]) -> Multiplications:
    """Count one colour image of (height, width) pixels through a module from `without_storage`."""
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    pixels = torch.empty(1, 3, *size, device="meta")
    with torch.no_grad(), counting(names) as counts:
        module(pixels)
    return counts


# ---------------------------------------------------------------------------------------------- where they belong


def part_of(parameter: str, blocks: list[str]) -> str:
    """Return the row that a parameter belongs to: `patch_embed`, `block 3`, `downsample 1`, `head`, ..."""
    for number, block in enumerate(blocks):
        if parameter.startswith(f"{block}."):
            return f"block {number}"
    if merging := re.match(r"layers\.(\d+)\.downsample\.", parameter):
        return f"downsample {merging[1]}"
    return parameter.split(".")[0]


def kind_of(parameter: str, part: str) -> int:
    """Return a parameter's kind of multiplication, an index of `KINDS`; parallel blocks' joint one is a projection."""
    if not part.startswith("block ") or ".cpb_mlp." in parameter:
        return OTHER
    return MLP if re.search(r"\.mlp(\.|_out_proj\.)", parameter) else PROJECTIONS


def table(counts: Multiplications, blocks: list[str]) -> dict[str, list[int]]:
    """Return each part's MACs by kind, in the order of the forward pass."""
    rows: dict[str, list[int]] = {}
    for parameter in counts.used:
        part = part_of(parameter, blocks)
        row = rows.setdefault(part, [0] * len(KINDS))
        row[kind_of(parameter, part)] += counts.of_parameter[parameter]
        row[PRODUCTS] += counts.of_attention[parameter]
    return rows
