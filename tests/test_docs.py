"""The README says what is true: its tables are made from the registries, its commands and its code run.

    python -m tests.test_docs

writes the tables anew.
"""

import json
import re
import shlex
import sys
from importlib.metadata import version
from inspect import signature
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import vitexplorer as vx
from vitexplorer.cli.finetune import finetune_command
from vitexplorer.cli.names import dashed, full_name, questions
from vitexplorer.settings import ASSETS, PREFIX, Settings

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


def markdown(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join(["", *(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines), "\n"])


def views_table() -> str:
    def paper(view) -> str:
        return f"[{view.paper.citation}]({view.paper.url})" if view.paper else ""

    rows = [
        (f"`{key}`", view.question.en, ", ".join(f"`{control.name}`" for control in view.controls), paper(view))
        for key, view in sorted(vx.views().items(), key=lambda item: item[1].room)
    ]
    return markdown(("view", "question", "controls", "paper"), rows)


def interventions_table() -> str:
    rows = [
        (
            f"`{key}`",
            record.question.en,
            ", ".join(f"`{control.name}`" for control in record.controls),
            f"[{record.paper.citation}]({record.paper.url})",
        )
        for key, record in vx.interventions().items()
    ]
    return markdown(("intervention", "question", "settings", "paper"), rows)


def settings_table() -> str:
    rows = []
    for name, field in Settings.model_fields.items():
        default = int(field.default) if isinstance(field.default, bool) else field.default
        rows.append((f"`{PREFIX}{name.upper()}`", f"`{default}`", field.description))
    return markdown(("variable", "default", "meaning"), rows)


def bundled_table() -> str:
    rows = [
        (f"`{entry.name}`", f"{entry.megabytes:.1f} MB", entry.sentence.en) for entry in vx.models() if entry.bundled
    ]
    return markdown(("model", "size", "what it is"), rows)


def examples_table() -> str:
    entries = json.loads((ASSETS / "examples" / "examples.json").read_text(encoding="utf-8"))
    rows = [(entry["file"], entry["title_en"], entry["licence"], entry["source"]) for entry in entries]
    return markdown(("file", "picture", "licence", "source"), rows)


TABLES = {
    "views": views_table,
    "interventions": interventions_table,
    "settings": settings_table,
    "bundled": bundled_table,
    "examples": examples_table,
}


def region(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)


def code_blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def front_matter() -> dict[str, str]:
    block = README.read_text(encoding="utf-8").split("---\n")[1]
    return {key: value.strip('"') for key, value in (line.split(": ", 1) for line in block.splitlines())}


# ---------------------------------------------------------------------------------------------- the tables


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_what_the_registry_says(name):
    found = region(name).search(README.read_text(encoding="utf-8"))
    assert found, f"the README has no table between <!-- {name} --> and <!-- end -->"
    assert found[0] == TABLES[name](), "python -m tests.test_docs"


# ---------------------------------------------------------------------------------------------- the front matter


def test_the_front_matter_is_what_a_space_wants():
    given = front_matter()
    colors = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
    assert given["sdk"] == "gradio"
    assert {given["colorFrom"], given["colorTo"]} <= colors
    assert len(given["short_description"]) <= 60
    assert (ROOT / given["app_file"]).name == "app.py"
    assert given["python_version"] == "3.12"


def test_the_space_runs_a_gradio_that_the_requirements_allow():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    (gradio,) = (Requirement(line) for line in lines if line.startswith("gradio"))
    assert front_matter()["sdk_version"] in gradio.specifier
    assert version("gradio") in gradio.specifier


# ---------------------------------------------------------------------------------------------- commands and code


def command_lines() -> list[str]:
    lines = "\n".join(code_blocks("bash")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("python -m vitexplorer ")]


def test_the_commands_exist_with_their_options():
    assert command_lines()
    for line in command_lines():
        _, _, _, command, *arguments = shlex.split(line, comments=True)
        name = full_name(command, [*questions(), "models", "views", "interventions", "finetune", "--help"])
        options = {argument for argument in arguments if argument.startswith("--")}
        common = {"--model", "--weights", "--weights-seed", "--fit", "--change", "--out", "--language"}
        if name in questions():
            controls = {f"--{dashed(control.name)}" for control in vx.views()[name.replace("-", "_")].controls}
            assert options <= common | controls, line
        elif name == "finetune":
            assert options <= {f"--{dashed(option)}" for option in signature(finetune_command("en")).parameters}, line
        else:
            assert not options, line


def test_the_python_example_runs(tmp_path, monkeypatch):
    code = code_blocks("python")[0]  # the other one trains: `test_training`
    model = re.search(r'load_model\("(\w+)"', code)[1]
    if not any(entry.name == model for entry in vx.models()):
        pytest.skip(f"{model} is not bundled yet")
    monkeypatch.chdir(tmp_path)
    example = json.loads((ASSETS / "examples" / "examples.json").read_text(encoding="utf-8"))[0]["file"]
    exec(code.replace('"picture.jpg"', repr(str(ASSETS / "examples" / example))).replace(".png", ".json"), {})
    assert list(tmp_path.glob("*.json"))


def test_the_files_it_names_exist():
    text = README.read_text(encoding="utf-8")
    named = re.findall(r"`((?:vitexplorer|assets|tests|benchmarks)/[\w./]*)`", text)
    assert not [path for path in named if not (ROOT / path).exists()]
    modules = re.findall(r"python -m (vitexplorer\.[\w.]+)", text)
    places = [ROOT / module.replace(".", "/") for module in modules]
    assert not [
        place for place in places if not (place / "__main__.py").exists() and not place.with_suffix(".py").exists()
    ]


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        made = table()
        text = region(name).sub(lambda _, made=made: made, text, count=1)
    README.write_text(text, encoding="utf-8")
    sys.exit(0)
