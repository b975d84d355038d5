"""Where a module attends, and how it cuts images: one pass over three images, of which two differ in one patch.

Parameters have names, and an attention call belongs to the parameter used last before it. The names of all calls are
cut off where they first tell the calls apart: these are the blocks. That patches come row by row after the prefix
tokens is not believed but tried: the patch that was changed must be the token that changed most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.core.types import PatchGrid
from vitexplorer.tracing.attention_call import of_kernel
from vitexplorer.tracing.follow import OUTSIDE, Args, FollowedPass, Function, Kwargs

_NO_ATTENTION = Text(
    "In {name} no attention among all tokens was seen: no call of F.scaled_dot_product_attention, and no softmax of "
    "queries times keys with the axes (batch, heads, queries, keys). A model of transformers shows it after "
    'set_attn_implementation("sdpa") or ("eager"), a compiled one before it is compiled.',
    "在 {name} 中没有发现所有标记之间的注意力：既没有调用 F.scaled_dot_product_attention，也没有对查询与键之积"
    "（轴为批、头、查询、键）做 softmax。transformers 的模型请先调用 "
    'set_attn_implementation("sdpa") 或 set_attn_implementation("eager")；编译过的模型请使用编译之前的模块。',
)
_WINDOWS = Text(
    "{module} attends within windows, and where these lie in the image cannot be found out by running it. Save the "
    "weights and open them with load_model(weights=...).",
    "{module} 在窗口内计算注意力，而窗口在图像中的位置无法通过运行得知。请保存权重，"
    "再用 load_model(weights=...) 打开。",
)
_OTHER_NUMBERS = Text(
    "The blocks of {name} attend to different numbers of tokens ({some}), which cannot be placed in the image without "
    "knowing the architecture. Save the weights and open them with load_model(weights=...).",
    "{name} 各块的标记数不同（{some}），不了解其结构就无法在图像中定位。请保存权重，"
    "再用 load_model(weights=...) 打开。",
)
_NOT_APART = Text(
    "The attention calls of {name} cannot be told apart by their parameters ({module} makes several). State blocks=, "
    "the name of the list that holds them or their names.",
    "无法根据参数区分 {name} 的各次注意力调用（{module} 有多次）。请用 blocks= 指明存放各块的列表名或各块的名称。",
)
_NO_PART = Text("{name} has no part called {part}.", "{name} 中没有名为 {part} 的部分。")
_NOT_ONE = Text(
    "{block} made {calls} attention calls among all tokens where one was expected.",
    "{block} 在所有标记之间调用了 {calls} 次注意力，而预期是 1 次。",
)
_NO_PATCHES = Text(
    "How {name} cuts its {tokens} tokens out of an image was not found: state patch_size=, in pixels.",
    "无法得知 {name} 的 {tokens} 个标记如何从图像中切出：请用 patch_size= 指明图块边长（像素）。",
)
_FEWER = Text(
    "{name} has {tokens} tokens, fewer than the {rows} × {cols} patches of {size} pixels: state another patch_size=.",
    "{name} 有 {tokens} 个标记，少于 {rows} × {cols} 个边长 {size} 像素的图块：请另行指明 patch_size=。",
)
_OTHER_PREFIX = Text(
    "{name} has {tokens} tokens, of which {rows} × {cols} are patches: {found} prefix tokens, not {stated}.",
    "{name} 有 {tokens} 个标记，其中 {rows} × {cols} 个是图块：前缀标记有 {found} 个，而不是 {stated} 个。",
)
_OTHER_ORDER = Text(
    "The tokens of {name} are not its prefix tokens followed by the patches row by row: another patch in row {row}, "
    "column {col} changed token {found} most, not token {expected}. State patch_size= or num_prefix_tokens= if they "
    "are others.",
    "{name} 的标记不是“前缀标记之后逐行排列图块”：改变第 {row} 行第 {col} 列的图块后，变化最大的是标记 {found}，"
    "而不是标记 {expected}。如果图块大小或前缀标记数不同，请用 patch_size= 或 num_prefix_tokens= 指明。",
)


@dataclass(frozen=True)
class Places:
    """What one pass told."""

    blocks: tuple[str, ...]
    grid: PatchGrid
    cuts_pixels: bool
    """whether one convolution makes each token of its own patch"""
    answers_logits: bool
    """whether the module calls its answer so"""


@dataclass(frozen=True)
class _Call:
    parameter: int
    """number of the one used last; `OUTSIDE` before any"""
    query: tuple[int, ...]
    keys: int


class _Calls(FollowedPass):
    """Keeps the shapes of attention calls, the first queries, and how the image is cut."""

    def __init__(self, module: nn.Module, images: Tensor):
        super().__init__({id(parameter): number for number, parameter in enumerate(module.parameters())})
        self.calls: list[_Call] = []
        self.first: Tensor
        """queries of the first call among all tokens"""
        self.cut: tuple[int, ...] | None = None
        """rows, columns and pixels of what the first convolution of the image makes without overlap"""
        self._images = images

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """How the image is cut into patches."""
        out = function(*args, **kwargs)
        if function is F.conv2d and self.cut is None and args[0].shape == self._images.shape:
            stride = self._images.shape[-2] // out.shape[-2]
            self.cut = (*out.shape[-2:], stride) if args[1].shape[-2:] == (stride, stride) else None
        return out

    def kernel(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Shapes of the call."""
        self._keep(of_kernel(*args, **kwargs).query, of_kernel(*args, **kwargs).num_tokens)
        return function(*args, **kwargs)

    def softmax(self, query: Tensor, key: Tensor, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Shapes of the call."""
        self._keep(query, args[0].shape[-1])
        return function(*args, **kwargs)

    def _keep(self, query: Tensor, keys: int) -> None:
        if query.shape[-2] != keys:  # pooling by attention, fewer keys
            return
        if not self.calls:
            self.first = query
        self.calls.append(_Call(self.block, tuple(query.shape), keys))


@torch.no_grad()
def places(
    module: nn.Module,
    name: str,
    images: Float[Tensor, "batch channels height width"],
    patch_size: int | None,
    num_prefix_tokens: int | None,
    blocks: str | Sequence[str] | None,
) -> Places:
    """Blocks and patch grid of a module; what is given is taken, and tried.

    Args:
        module: called with images alone.
        name: for messages.
        images: any single one.
        patch_size: in pixels; None where a convolution cuts the image.
        num_prefix_tokens: None for what is left of the tokens.
        blocks: names of the blocks, or of what holds them; None for what tells the calls apart.

    Raises UnsupportedError and SettingError with a sentence.
    """
    seen = _Calls(module, images.expand(3, -1, -1, -1))
    with seen:
        output = module(images.expand(3, -1, -1, -1))
    names = [parameter for parameter, _ in module.named_parameters()]
    own = _blocks(name, module, [names[call.parameter] for call in _among_all(name, names, seen.calls)], blocks)
    tokens = seen.calls[0].keys
    grid = _grid(name, tokens, images.shape[-2:], seen.cut, patch_size, num_prefix_tokens)
    _check_order(name, module, images, grid)
    cuts_pixels = seen.cut is not None and seen.cut[2] == grid.patch_size
    return Places(own, grid, cuts_pixels, isinstance(output, Mapping) and output.get("logits") is not None)


def _among_all(name: str, names: list[str], calls: list[_Call]) -> list[_Call]:
    """The calls, refused where they are not all among the same tokens."""
    known = [call for call in calls if call.parameter != OUTSIDE]
    if not known:
        raise UnsupportedError(_NO_ATTENTION.format(name=name))
    for call in known:
        if len(call.query) != 4 or call.query[0] != 3:
            raise UnsupportedError(_WINDOWS.format(module=_module_of(names[call.parameter])))
    numbers = sorted({call.keys for call in known})
    if len(numbers) > 1:
        raise UnsupportedError(_OTHER_NUMBERS.format(name=name, some=", ".join(map(str, numbers[:4]))))
    return known


# ---------------------------------------------------------------------------------------------- blocks


def _blocks(name: str, module: nn.Module, used: list[str], stated: str | Sequence[str] | None) -> tuple[str, ...]:
    if stated is None:
        return told_apart(name, used)
    parts = dict(module.named_modules())
    if isinstance(stated, str):
        if stated not in parts:
            raise SettingError(_NO_PART.format(name=name, part=stated))
        stated = [f"{stated}.{child}" for child, _ in parts[stated].named_children()]
    for part in stated:
        if part not in parts:
            raise SettingError(_NO_PART.format(name=name, part=part))
        calls = sum(parameter.startswith(f"{part}.") for parameter in used)
        if calls != 1:
            raise SettingError(_NOT_ONE.format(block=part, calls=calls))
    return tuple(stated)


def told_apart(name: str, used: Sequence[str]) -> tuple[str, ...]:
    """The shortest beginnings of the parameters' names that no two calls share; of a single call up to a number."""
    split = [_module_of(parameter).split(".") for parameter in used]
    if len(split) == 1:
        (path,) = split
        numbered = [place for place, word in enumerate(path) if any(map(str.isdigit, word))]
        return (".".join(path[: numbered[0] + 1 if numbered else len(path)]),)
    for length in range(1, max(map(len, split)) + 1):
        found = [".".join(path[:length]) for path in split]
        if len(set(found)) == len(found):
            return tuple(found)
    modules = [".".join(path) for path in split]
    twice = next(module for module in modules if modules.count(module) > 1)
    raise UnsupportedError(_NOT_APART.format(name=name, module=twice))


def _module_of(parameter: str) -> str:
    return parameter.rpartition(".")[0] or parameter


# ---------------------------------------------------------------------------------------------- patches


def _grid(
    name: str,
    tokens: int,
    size: Sequence[int],
    cut: tuple[int, ...] | None,
    patch_size: int | None,
    num_prefix_tokens: int | None,
) -> PatchGrid:
    if patch_size is None and cut is None and num_prefix_tokens is not None and tokens > num_prefix_tokens:
        patch_size = math.isqrt(size[0] * size[1] // (tokens - num_prefix_tokens))
    if patch_size is not None:
        cut = size[0] // patch_size, size[1] // patch_size, patch_size
    if cut is None:
        raise UnsupportedError(_NO_PATCHES.format(name=name, tokens=tokens))
    rows, cols, side = cut
    found = tokens - rows * cols
    said = {"name": name, "tokens": tokens, "rows": rows, "cols": cols}
    if found < 0:
        raise (UnsupportedError if patch_size is None else SettingError)(_FEWER.format(**said, size=side))
    if num_prefix_tokens not in (None, found):
        raise SettingError(_OTHER_PREFIX.format(**said, found=found, stated=num_prefix_tokens))
    return PatchGrid(rows, cols, side, found)


def _check_order(name: str, module: nn.Module, images: Tensor, grid: PatchGrid) -> None:
    """Raises UnsupportedError unless a changed patch changes its own token most, in two corners."""
    patches = (0, grid.cols - 1), (grid.rows - 1, 0)
    changed = images.repeat(3, 1, 1, 1)
    for number, (row, col) in enumerate(patches):
        top, left = row * grid.patch_size, col * grid.patch_size
        changed[1 + number, :, top : top + grid.patch_size, left : left + grid.patch_size] += 3
    with _Calls(module, changed) as seen:
        module(changed)
    for number, (row, col) in enumerate(patches):
        found = int((seen.first[1 + number] - seen.first[0]).abs().sum((0, 2)).argmax())
        expected = grid.num_prefix_tokens + row * grid.cols + col
        if found != expected:
            raise UnsupportedError(_OTHER_ORDER.format(name=name, row=row, col=col, found=found, expected=expected))
