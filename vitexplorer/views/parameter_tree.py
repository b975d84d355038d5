"""Which module holds how many of the parameters, one inside the other?

Every module that has parameters, and every parameter that a module holds beside others, with the number of elements in
it and in all that it contains (Shneiderman 1992 drew such trees as nested rectangles). Lists that only hold blocks or
stages are left out, and so is an only child, which would repeat its parent. A tensor that two modules share counts
once, at its first name. Buffers do not count.
Misleading as a measure of what matters: a large matrix may do little, and a class token is a dot.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from torch import nn

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.format import counted, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.part_names import part_text
from vitexplorer.core.text import Text
from vitexplorer.core.types import TreeResult
from vitexplorer.views.record import View


@dataclass
class _Node:
    """A module or a parameter; `path` as torch names it."""

    path: str
    count: int = 0
    children: dict[str, _Node] = field(default_factory=dict)
    is_tensor: bool = False


def module_tree(module: nn.Module) -> _Node:
    """Build the tree of modules by name, each with the elements of all parameters below it."""
    root = _Node("")
    for name, parameter in module.named_parameters():
        steps, node = name.split("."), root
        node.count += parameter.numel()
        for depth, step in enumerate(steps, start=1):
            node = node.children.setdefault(step, _Node(".".join(steps[:depth]), is_tensor=depth == len(steps)))
            node.count += parameter.numel()
    return root


def drawn_children(node: _Node, lists: frozenset[str]) -> list[_Node]:
    """Return the children of a node that are drawn.

    Lists and only children are replaced by their own children. Weights and biases are not listed for a module that has
    nothing else.
    """
    children = list(node.children.values())
    if all(child.is_tensor for child in children):
        return []
    if len(children) == 1 and not lists & {node.path, children[0].path}:
        return drawn_children(children[0], lists)
    drawn: list[_Node] = []
    for child in children:
        drawn += drawn_children(child, lists) if child.path in lists else [child]
    return drawn


def _name(node: _Node, parent: str, blocks: dict[str, int], stages: frozenset[str]) -> str:
    """Return `block 3`, `stage 1`, `downsample 1`, or the last word of torch's name."""
    if node.path in blocks:
        return f"block {blocks[node.path]}"
    if node.path in stages:
        return f"stage {node.path.rpartition('.')[2]}"
    last = node.path.rpartition(".")[2]
    return f"{last} {parent.rpartition('.')[2]}" if last == "downsample" and parent in stages else last


def compute(capture: Capture) -> TreeResult:
    """Count the parameters in each module, int64 (modules,); a module's count includes the modules inside it."""
    blocks = {site.name: number for number, site in enumerate(capture.sites)}
    above = {".".join(path.split(".")[:n]) for path in blocks for n in range(1, path.count(".") + 1)}
    stages = frozenset(path for path in above if path.rpartition(".")[2].isdigit())
    rows: list[tuple[_Node, str, int]] = []

    def add(node: _Node, parent: int) -> None:
        for child in drawn_children(node, frozenset(above - stages)):
            rows.append((child, _name(child, node.path, blocks, stages), parent))
            add(child, len(rows) - 1)

    root = module_tree(capture.model.module)
    add(root, -1)
    return TreeResult(
        values=np.array([node.count for node, _, _ in rows], dtype=np.int64),
        axes=("modules",),
        unit=Text("parameters", "个参数"),
        formula=Text("Σ elements of every parameter", "Σ 每个参数张量的元素数"),
        notes=(
            Text(
                "The count of a module includes the modules inside it; buffers are not counted.",
                "模块的数目包含其内部的模块；缓冲区（buffer）不计入。",
            ),
        ),
        modules=tuple(node.path for node, _, _ in rows),
        names=tuple(name for _, name, _ in rows),
        parents=tuple(parent for _, _, parent in rows),
        total=root.count,
    )


def reading(result: TreeResult) -> Text:
    """Give the shares of attention and MLPs, or name the largest part."""
    total = max(result.total, 1)
    attention, mlp = (_inside(result, name) for name in ("attn", "mlp"))
    if attention and mlp:
        return Text(
            "{mlp} of {total} parameters are in the MLPs, {attention} in attention.",
            "{total} 个参数中，{mlp} 在 MLP 里，{attention} 在注意力里。",
        ).format(total=counted(result.total), mlp=percent(mlp / total), attention=percent(attention / total))
    largest = int(np.argmax(np.where(np.array(result.parents) < 0, result.values, -1)))
    return Text(
        "{share} of {total} parameters are in the largest part, {part}.",
        "{total} 个参数中，最大的部分占 {share}：{part}。",
    ).format(
        total=counted(result.total),
        share=percent(int(result.values[largest]) / total),
        part=part_text(result.names[largest]),
    )


def _inside(result: TreeResult, name: str) -> int:
    """Count the parameters in all modules of a name; a module inside another of that name counts once."""

    def is_outermost(at: int) -> bool:
        while (at := result.parents[at]) >= 0:
            if result.names[at] == name:
                return False
        return True

    return sum(int(result.values[at]) for at, called in enumerate(result.names) if called == name and is_outermost(at))


VIEW = View(
    title=Text("Parameters as a treemap", "参数量矩形树图"),
    question=Text("How many parameters does each module have?", "每个模块有多少参数？"),
    misleads=Text(
        "An area shows how many parameters a module has, not how important they are: a class token is a dot and "
        "decides the answer.",
        "面积只表示参数有多少，不表示参数有多重要：类别标记（CLS）只是一个点，却决定答案。",
    ),
    room="size",
    compute=compute,
    reads=(),
    reading=reading,
    paper=Paper("Shneiderman 1992", "https://doi.org/10.1145/102377.115768"),
)
