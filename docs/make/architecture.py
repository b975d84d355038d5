"""Drawing of the package's floors, `docs/architecture.svg`.

    python -m docs.make.architecture

A floor is one line of the contract `layers` in `.importlinter`, the top line first. Folders, modules and imports are
counted in the import graph, so that the drawing changes with the code and with the contract alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grimp
from importlinter.api import read_configuration

ROOT = Path(__file__).resolve().parents[2]
DRAWING = ROOT / "docs" / "architecture.svg"

# Pixels.
MARGIN, GAP = 24, 8
ROW, HEAD = 34, 92
ARROW, NUMBER = 44, 40
LETTER, PADDING = 7.6, 13
FOLDERS = 640
CELL = 26
INK, FAINT, ACCENT, PAPER, BAND = "#1f2937", "#6b7280", "#4f46e5", "#ffffff", "#f3f4f6"


@dataclass(frozen=True)
class Floor:
    """One line of the contract."""

    modules: dict[str, int]
    """Number of modules of each folder or single file."""
    imports: Counter[int]
    """Number of imports from each floor, by its index from the top."""


def main() -> None:
    """Write the drawing."""
    DRAWING.write_text(drawing(floors()), encoding="utf-8")


def floors() -> list[Floor]:
    """Read the floors of the package, from the top."""
    (contract,) = (
        contract
        for contract in read_configuration(str(ROOT / ".importlinter"))["contracts_options"]
        if contract["id"] == "layers"
    )
    package = contract["containers"]
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    lines = [re.findall(r"[\w.]+", line) for line in contract["layers"]]
    modules = [
        {name: {own, *graph.find_descendants(own)} for name in line if (own := f"{package}.{name}") in graph.modules}
        for line in lines
    ]
    floor_of = {module: index for index, line in enumerate(modules) for own in line.values() for module in own}
    imports: list[Counter[int]] = [Counter() for _ in lines]
    for module, index in floor_of.items():
        imported = graph.find_modules_directly_imported_by(module)
        imports[index].update(floor_of[other] for other in imported if other in floor_of)
    return [
        Floor({name: len(own) for name, own in line.items()}, counted)
        for line, counted in zip(modules, imports, strict=True)
    ]


def drawing(stack: list[Floor]) -> str:
    """Draw the floors as SVG: number, folders, and one column for each floor below the top."""
    left = MARGIN + ARROW
    columns = left + NUMBER + FOLDERS + 2 * GAP
    width = columns + CELL * (len(stack) - 1) + MARGIN
    parts: list[str] = []
    top = HEAD
    for index, floor in enumerate(stack):
        boxes = list(placed(floor))
        height = ROW * (1 + max((line for *_, line in boxes), default=0)) + GAP
        middle = top + height / 2
        parts.append(rectangle(left, top, width - MARGIN - left, height, BAND))
        parts.append(text(left + NUMBER / 2, middle + 5, str(len(stack) - index), FAINT, "middle"))
        for name, count, x, box_width, line in boxes:
            box_x, box_y = left + NUMBER + x, top + GAP + line * ROW
            parts.append(rectangle(box_x, box_y, box_width, ROW - GAP, PAPER, INK))
            label = f'{name} <tspan fill="{FAINT}">{count}</tspan>'
            parts.append(text(box_x + box_width / 2, box_y + 18, label, INK, "middle"))
        for other, number in sorted(floor.imports.items()):
            if other != index:
                parts.append(dot(columns + CELL * (other - 0.5), middle, number, len(stack) - other))
        top += height + GAP
    for index in range(1, len(stack)):
        parts.append(text(columns + CELL * (index - 0.5), HEAD - GAP, str(len(stack) - index), FAINT, "middle"))
    return page(width, top + MARGIN - GAP, [*heading(stack, columns), *arrow(top - GAP), *parts])


def placed(floor: Floor) -> Iterator[tuple[str, int, float, float, int]]:
    """Yield name, number of modules, x, width and line of every box of a floor."""
    x, line = 0.0, 0
    for name, count in sorted(floor.modules.items(), key=lambda item: -item[1]):
        width = LETTER * len(f"{name} {count}") + 2 * PADDING
        if x and x + width > FOLDERS:
            x, line = 0.0, line + 1
        yield name, count, x, width, line
        x += width + GAP


def heading(stack: list[Floor], columns: float) -> list[str]:
    """Draw the title and the legend of boxes and dots."""
    total = sum(sum(floor.modules.values()) for floor in stack)
    return [
        text(MARGIN, 38, f"{len(stack)} floors, {total} modules", INK, size=20, weight=600),
        text(MARGIN, 62, "A box is a folder or a single file, with its number of modules.", FAINT),
        text(columns, 38, "imports from floor", INK, weight=600),
        text(columns, 58, "the larger the dot, the more imports", FAINT),
    ]


def arrow(bottom: float) -> list[str]:
    """Draw the arrow that shows the direction of all imports."""
    x, middle = MARGIN + ARROW / 2 + 6, (HEAD + bottom) / 2
    return [
        f'<path d="M{x} {HEAD}V{bottom - 10}" stroke="{ACCENT}" stroke-width="2.5"/>',
        f'<path d="M{x - 7} {bottom - 12}h14l-7 12z" fill="{ACCENT}"/>',
        f'<g transform="rotate(-90 {x - 10} {middle})">'
        + text(x - 10, middle, "a floor imports what stands lower", ACCENT, "middle", weight=600)
        + "</g>",
    ]


def dot(x: float, y: float, number: int, floor: int) -> str:
    """Draw the imports from one floor; their number is in the tooltip."""
    radius = min(3 + number**0.5 / 2, CELL / 2 - 1)
    tooltip = f"<title>{number} imports from floor {floor}</title>"
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:.1f}" fill="{ACCENT}">{tooltip}</circle>'


def rectangle(x: float, y: float, width: float, height: float, fill: str, stroke: str = "none") -> str:
    """Draw a box with round corners."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="{fill}" stroke="{stroke}"/>'


def text(
    x: float, y: float, content: str, fill: str, anchor: str = "start", *, size: int = 14, weight: int = 400
) -> str:
    """Draw one line of text."""
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}" font-size="{size}" '
        f'font-weight="{weight}">{content}</text>'
    )


def page(width: float, height: float, parts: list[str]) -> str:
    """Join the parts to the whole drawing on a light background."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" font-family="system-ui, sans-serif">',
            "<title>Floors of the package, from the top</title>",
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            *parts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    main()
