"""Tables of the documentation, made from the program's own registries and from measurements.

    python -m docs.make.tables

The command writes each table between its marks, `<!-- name -->` and `<!-- end -->`, in the README and the pages of
`docs/`; `test_docs` fails while one is out of date. A new table is a function in `TABLES` and two marks in a page.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable
from inspect import Parameter
from typing import Any

from pydantic.fields import FieldInfo

import vitexplorer as vx
from benchmarks.diagnosis import counts_of, stored_runs
from benchmarks.field.tables import read, text
from tests.helpers.families_of_timm import sweep
from tests.helpers.tree import ROOT
from vitexplorer.cli.compare import side_parameters
from vitexplorer.cli.view import common_parameters
from vitexplorer.core.settings import ASSETS, PREFIX, Settings
from vitexplorer.diagnosis.causes import CAUSES
from vitexplorer.models.examples import examples
from vitexplorer.models.measured import measured
from vitexplorer.survey.questions import QUESTIONS
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.page import ROOMS
from vitexplorer.views.record import Paper

README = ROOT / "README.md"
PAGES = (README, *sorted((ROOT / "docs").glob("*.md")))
MARKED = re.compile(r"<!-- (?P<name>\w+) -->\n(?P<table>.*?)<!-- end -->", re.DOTALL)


def main() -> None:
    """Update every table of every page."""
    for page in PAGES:
        content = page.read_text(encoding="utf-8")
        page.write_text(MARKED.sub(_updated, content), encoding="utf-8")


def _updated(mark: re.Match[str]) -> str:
    name = mark["name"]
    return f"<!-- {name} -->\n{TABLES[name]()}<!-- end -->"


def written_tables() -> dict[str, str]:
    """Read the tables in the pages, by name."""
    pages = (page.read_text(encoding="utf-8") for page in PAGES)
    return {mark["name"]: mark["table"] for page in pages for mark in MARKED.finditer(page)}


def markdown(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Write a table in Markdown."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join(["", *(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines), "\n"])


def link(paper: Paper | None) -> str:
    """Write a citation with a link to the paper; empty where there is none."""
    return f"[{paper.citation}]({paper.url})" if paper else ""


def code(names: Iterable[str]) -> str:
    """Write names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


# ---------------------------------------------------------------------------------------------- registries


def views_table() -> str:
    """List every view, by room."""
    views = sorted(vx.views().items(), key=lambda item: (not item[1].room, item[1].room))
    return _questions(("view", "question", "controls", "paper"), views)


def _questions(header: tuple[str, ...], records: Iterable[tuple[str, Any]]) -> str:
    rows = [
        (f"`{key}`", record.question.en, code(control.name for control in record.controls), link(record.paper))
        for key, record in records
    ]
    return markdown(header, rows)


def rooms_table() -> str:
    """List every room of the page: its title, and the first line of its class's docstring."""
    learn = "A guided path through the other rooms, with questions and the numbers of your image."
    rooms = ((room.title.en, inspect.getdoc(room).splitlines()[0]) for room in ROOMS)
    return markdown(("room", "what it shows"), [(UI_WORDS["learn"].en, learn), *rooms])


def comparisons_table() -> str:
    """List every comparison."""
    return _questions(("comparison", "question", "controls", "paper"), vx.comparisons().items())


def interventions_table() -> str:
    """List every intervention."""
    return _questions(("intervention", "question", "settings", "paper"), vx.interventions().items())


def causes_table() -> str:
    """List every cause that a check-up knows, and its sign."""
    rows = [(f"`{key}`", cause.title.en, cause.sign.en) for key, cause in CAUSES.items()]
    return markdown(("cause", "name", "what shows it"), rows)


def causes_pages() -> str:
    """Describe every cause: what it looks like, what shows it, how to mend it, the view that shows it, the proof."""
    views, runs = vx.views(), stored_runs(ROOT / "benchmarks" / "diagnosis.jsonl")
    sections = []
    for key, cause in CAUSES.items():
        counts = counts_of([run for run in runs if run.cause == key])
        repairs = f"; {counts.proven} of {counts.repairs} repairs reach the healthy accuracy" if counts.repairs else ""
        points = [
            f"*What shows it:* {cause.sign.en}",
            f"*How to mend it:* {cause.mend.en}",
            f"*To look at it:* the view [{views[cause.view].title.en}](views.md).",
            f"*How often it is found:* of {counts.visible} planted faults that are visible, {counts.first} are named "
            f"first{repairs} ([measured](../benchmarks/diagnosis.md)).",
        ]
        if cause.limit:
            points.append(f"*Limit:* {cause.limit.en}")
        sections += [f"### {cause.title.en}", f"`{key}`. {cause.looks.en}", "\n".join(f"- {point}" for point in points)]
        if (ROOT / "docs" / "causes" / f"{key}.webp").exists():
            sections.append(f"![Proof of a check-up: {cause.title.en}](causes/{key}.webp)")
    return "\n\n".join(sections)


def methods_table() -> str:
    """List every method of fine-tuning."""
    rows = [
        (f"`{key}`", method.sentence.en, code(control.name for control in method.controls), link(method.paper))
        for key, method in vx.methods().items()
    ]
    return markdown(("method", "what it does", "settings", "paper"), rows)


def options_table() -> str:
    """List the options of every view's command; its controls are further options."""
    return _options(common_parameters("en"))


def sides_table() -> str:
    """List the further options of a comparison's command."""
    return _options(side_parameters("en")[len(common_parameters("en")) :])


def _options(parameters: Iterable[Parameter]) -> str:
    rows = []
    for option in parameters:
        info = option.default
        spellings = info.param_decls or [option.name.upper()]
        rows.append((code(spellings), "" if info.default is None else f"`{info.default}`", info.help))
    return markdown(("option", "default", "meaning"), rows)


def settings_table() -> str:
    """List every environment variable."""
    defaults = _defaults()
    rows = ((name, defaults[name], field.description) for name, field in _variables().items())
    return markdown(("variable", "default", "meaning"), rows)


def hosted_table() -> str:
    """List the defaults that change with VIT_HOSTED=1."""
    defaults = _defaults()
    rows = ((name, default) for name, default in _defaults(hosted=True).items() if default != defaults[name])
    return markdown(("variable", "default"), rows)


def _variables() -> dict[str, FieldInfo]:
    return {f"`{PREFIX}{name.upper()}`": field for name, field in Settings.model_fields.items()}


def _defaults(**given: bool) -> dict[str, str]:
    """Write the default of every variable as code; empty where there is none."""
    defaults = {}
    for name, field in _variables().items():
        default = field.get_default(call_default_factory=True, validated_data=given)
        default = int(default) if isinstance(default, bool) else default
        defaults[name] = f"`{default}`" if default != "" else ""
    return defaults


def questions_table() -> str:
    """List every question of a survey."""
    rows = ((f"`{key}`", question.question.en, link(question.paper)) for key, question in QUESTIONS.items())
    return markdown(("question", "what it asks", "paper"), rows)


def bundled_table() -> str:
    """List every bundled model."""
    rows = []
    for entry in vx.models():
        if entry.bundled:
            config = json.loads((ASSETS / "models" / entry.name / "config.json").read_text(encoding="utf-8"))
            quality = " ".join(text.en for text in measured(config["figures"]))
            rows.append((f"`{entry.name}`", f"{entry.megabytes:.1f} MB", entry.sentence.en, quality))
    return markdown(("model", "size", "what it is", "how good it is"), rows)


def examples_table() -> str:
    """List every example image with its licence."""
    rows = [(example.path.name, example.title.en, example.licence, example.source) for example in examples().values()]
    return markdown(("file", "picture", "licence", "source"), rows)


def families_table() -> str:
    """List the coverage of timm by family, with reasons for gaps; files refused for one reason share a row."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, (family, coverage, reason) in sweep().items():
        rows.setdefault((coverage, reason if coverage == "refused" else family), []).append(name)
    order = ["all views", "attention maps", "attention maps, partly", "refused"]
    lines = []
    for (coverage, label), names in sorted(rows.items(), key=lambda row: (order.index(row[0][0]), sorted(row[1]))):
        models = code(sorted(names))
        lines.append((coverage, models if coverage == "refused" else f"{label}: {models}", sweep()[names[0]][2]))
    return markdown(("shown", "models of timm's files", "not shown, and why"), lines)


# ------------------------------------------------------------------------------------------------- measured


FIELD = ROOT / "benchmarks" / "field.json"
GESTURES = ("hover a patch (twin: click it)", "another head", "jump to a block", "a picture of one's own")


def field_table() -> str:
    """Compare cost of a capture, coverage of architectures and response times of the page with other tools."""
    tables = {table.key: table for group in read(FIELD).values() for table in group}
    keys = "capture_time", "capture_memory", "coverage_counts", "page_0", "page_100"
    capture, memory, coverage, near, far = (tables[key] for key in keys)
    pixels = capture.columns.index("pixels")
    images = capture.columns.index("images")
    tools = slice(images + 1, None)
    costs = [(row[0], *map(text, row[tools])) for row in capture.rows if (row[pixels], row[images]) == (224, 1)]
    peaks = [tuple(map(text, row)) for row in memory.rows if row[0] == memory.rows[0][0] and row[2] == 1]
    covered = [tuple(map(text, row)) for row in coverage.rows]
    ours = near.columns.index("ours, ms")
    theirs = near.columns.index("gr.Image, ms")
    answers = [
        (gesture.partition(" (")[0], *(text(row[column]) for row in (here, there) for column in (ours, theirs)))
        for gesture in GESTURES
        for here, there in [[next(row for row in table.rows if row[0] == gesture) for table in (near, far)]]
    ]
    return "".join(
        f"\n{title}\n{markdown(header, rows)}"
        for title, header, rows in (
            ("Time over timm's plain forward pass, one image of 224 px:", ("model", *capture.columns[tools]), costs),
            ("Peak memory of a process over the loaded model, MB:", memory.columns, peaks),
            (
                "Architectures of timm's for which a tool gives the attention that was used:",
                ("tool", *coverage.columns[1:]),
                covered,
            ),
            (
                "Milliseconds from a gesture to its answer on the screen, beside a page of `gr.Image`:",
                ("gesture", "ours", "gr.Image", "ours, 100 ms away", "gr.Image, 100 ms away"),
                answers,
            ),
        )
    )


TABLES: dict[str, Callable[[], str]] = {
    "rooms": rooms_table,
    "views": views_table,
    "families": families_table,
    "comparisons": comparisons_table,
    "causes": causes_table,
    "causes_pages": causes_pages,
    "interventions": interventions_table,
    "options": options_table,
    "sides": sides_table,
    "methods": methods_table,
    "questions": questions_table,
    "bundled": bundled_table,
    "field": field_table,
    "settings": settings_table,
    "hosted": hosted_table,
    "examples": examples_table,
}

if __name__ == "__main__":
    main()
