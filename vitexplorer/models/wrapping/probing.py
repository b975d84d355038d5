"""Search for a module's attention calls and patch grid in passes over three images, two of which differ in one patch.

An attention call belongs to the parameter used last before it. The shortest prefixes of these parameters' names that
distinguish the calls are the blocks. The order of the tokens, prefix tokens first, then the patches row by row, is
verified: the token that changes most must be that of the patch that was changed.
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
    "{name} computes no attention among all tokens that can be read: it calls neither F.scaled_dot_product_attention "
    "nor a softmax of queries times keys with the axes (batch, heads, queries, keys). With a model of transformers, "
    'call set_attn_implementation("sdpa") or ("eager") first; wrap a model before it is compiled.',
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
    "{block} called attention among all tokens {calls} times instead of once.",
    "{block} 在所有标记之间调用了 {calls} 次注意力，而预期是 1 次。",
)
_NO_PATCHES = Text(
    "The patches behind the {tokens} tokens of {name} could not be determined: pass patch_size=, in pixels.",
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
class Probe:
    """Blocks and patch grid of a module."""

    blocks: tuple[str, ...]
    grid: PatchGrid
    cuts_pixels: bool
    """True if one convolution computes each token from its own patch"""
    answers_logits: bool
    """True if the module's output is named logits"""


@dataclass(frozen=True)
class _Call:
    parameter: int
    """Number of the parameter used last; `OUTSIDE` before any"""
    query: tuple[int, ...]
    keys: int


class _Calls(FollowedPass):
    """Pass that records the shapes of attention calls, the first queries, and the patch embedding."""

    def __init__(self, module: nn.Module, images: Tensor):
        super().__init__({id(parameter): number for number, parameter in enumerate(module.parameters())})
        self.calls: list[_Call] = []
        self.first: Tensor
        """Queries of the first call among all tokens"""
        self.cut: tuple[int, ...] | None = None
        """Rows, columns and stride in pixels of the first convolution of the image; None if its kernels overlap"""
        self._images = images

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Record the convolution that cuts the image into patches."""
        out = function(*args, **kwargs)
        if function is F.conv2d and self.cut is None and args[0].shape == self._images.shape:
            stride = self._images.shape[-2] // out.shape[-2]
            self.cut = (*out.shape[-2:], stride) if args[1].shape[-2:] == (stride, stride) else None
        return out

    def kernel(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Record the shapes of a fused attention call."""
        self._record(of_kernel(*args, **kwargs).query, of_kernel(*args, **kwargs).num_tokens)
        return function(*args, **kwargs)

    def softmax(self, query: Tensor, key: Tensor, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Record the shapes of an attention call through softmax."""
        self._record(query, args[0].shape[-1])
        return function(*args, **kwargs)

    def _record(self, query: Tensor, keys: int) -> None:
        if query.shape[-2] != keys:  # pooling by attention, fewer keys
            return
        if not self.calls:
            self.first = query
        self.calls.append(_Call(self.block, tuple(query.shape), keys))


@torch.no_grad()
def probe_module(
    module: nn.Module,
    name: str,
    images: Float[Tensor, "batch channels height width"],
    patch_size: int | None,
    num_prefix_tokens: int | None,
    blocks: str | Sequence[str] | None,
) -> Probe:
    """Find the blocks and the patch grid of a module; arguments that are not None are used and verified.

    Args:
        module: called with images alone.
        name: name for messages.
        images: a single image.
        patch_size: pixels; None for the stride of the convolution that cuts the image.
        num_prefix_tokens: None for the number of tokens that are not patches.
        blocks: names of the blocks, or of the module that holds them; None to derive them from the attention calls.

    Raises:
        UnsupportedError: there is no suitable attention, or its tokens cannot be located.
        SettingError: an argument does not agree with the module.
    """
    run = _Calls(module, images.expand(3, -1, -1, -1))
    with run:
        output = module(images.expand(3, -1, -1, -1))
    names = [parameter for parameter, _ in module.named_parameters()]
    used = [names[call.parameter] for call in _among_all(name, names, run.calls)]
    block_names = _blocks(name, module, used, blocks)
    tokens = run.calls[0].keys
    grid = _grid(name, tokens, images.shape[-2:], run.cut, patch_size, num_prefix_tokens)
    _check_order(name, module, images, grid)
    cuts_pixels = run.cut is not None and run.cut[2] == grid.patch_size
    return Probe(block_names, grid, cuts_pixels, isinstance(output, Mapping) and output.get("logits") is not None)


def _among_all(name: str, names: list[str], calls: list[_Call]) -> list[_Call]:
    """Return the calls that belong to a parameter; refuse them unless all are among the same tokens."""
    owned = [call for call in calls if call.parameter != OUTSIDE]
    if not owned:
        raise UnsupportedError(_NO_ATTENTION.format(name=name))
    for call in owned:
        if len(call.query) != 4 or call.query[0] != 3:
            raise UnsupportedError(_WINDOWS.format(module=_module_of(names[call.parameter])))
    numbers = sorted({call.keys for call in owned})
    if len(numbers) > 1:
        raise UnsupportedError(_OTHER_NUMBERS.format(name=name, some=", ".join(map(str, numbers[:4]))))
    return owned


# ---------------------------------------------------------------------------------------------- blocks


def _blocks(name: str, module: nn.Module, used: list[str], stated: str | Sequence[str] | None) -> tuple[str, ...]:
    if stated is None:
        return distinct_prefixes(name, used)
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


def distinct_prefixes(name: str, used: Sequence[str]) -> tuple[str, ...]:
    """Return the shortest prefixes of parameter names that distinguish the calls; for one call, up to a number.

    `used` names the parameter used last before each call, `name` the module in messages.

    Raises:
        UnsupportedError: two calls have the same parameter.
    """
    split = [_module_of(parameter).split(".") for parameter in used]
    if len(split) == 1:
        (path,) = split
        numbered = [index for index, word in enumerate(path) if any(map(str.isdigit, word))]
        return (".".join(path[: numbered[0] + 1 if numbered else len(path)]),)
    for length in range(1, max(map(len, split)) + 1):
        prefixes = [".".join(path[:length]) for path in split]
        if len(set(prefixes)) == len(prefixes):
            return tuple(prefixes)
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
    num_prefix = tokens - rows * cols
    facts = {"name": name, "tokens": tokens, "rows": rows, "cols": cols}
    if num_prefix < 0:
        raise (UnsupportedError if patch_size is None else SettingError)(_FEWER.format(**facts, size=side))
    if num_prefix_tokens not in (None, num_prefix):
        raise SettingError(_OTHER_PREFIX.format(**facts, found=num_prefix, stated=num_prefix_tokens))
    return PatchGrid(rows, cols, side, num_prefix)


def _check_order(name: str, module: nn.Module, images: Tensor, grid: PatchGrid) -> None:
    """Check that changing a patch changes its own token most, for the patches in two corners."""
    patches = (0, grid.cols - 1), (grid.rows - 1, 0)
    changed = images.repeat(3, 1, 1, 1)
    for number, (row, col) in enumerate(patches):
        top, left = row * grid.patch_size, col * grid.patch_size
        changed[1 + number, :, top : top + grid.patch_size, left : left + grid.patch_size] += 3
    with _Calls(module, changed) as run:
        module(changed)
    for number, (row, col) in enumerate(patches):
        token = int((run.first[1 + number] - run.first[0]).abs().sum((0, 2)).argmax())
        expected = grid.num_prefix_tokens + row * grid.cols + col
        if token != expected:
            raise UnsupportedError(_OTHER_ORDER.format(name=name, row=row, col=col, found=token, expected=expected))
