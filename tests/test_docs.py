"""Documentation against the code: tables equal the registries (`docs.make.tables`), commands and code run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

import vitexplorer as vx
from docs.make import architecture
from docs.make.tables import PAGES, README, TABLES, written_tables
from tests.helpers.documentation import code_blocks, front_matter, text_of
from tests.helpers.survey_images import class_folders
from tests.helpers.tree import ROOT
from vitexplorer.cli import build_app
from vitexplorer.models.examples import examples

INDEX = ROOT / "docs" / "README.md"
CHECKED = (*PAGES, ROOT / ".github" / "CONTRIBUTING.md")


def address(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# ---------------------------------------------------------------------------------------------- tables and drawings


def test_every_table_stands_in_a_page():
    assert written_tables().keys() == TABLES.keys()


@pytest.mark.parametrize("name", sorted(set(TABLES) - {"families"}))  # those: `test_every_family`
def test_a_table_is_what_the_registry_says(name):
    assert written_tables()[name] == TABLES[name](), "python -m docs.make.tables"


def test_the_floors_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(architecture, "DRAWING", tmp_path / "architecture.svg")
    architecture.main()
    words = set("".join(ElementTree.parse(architecture.DRAWING).getroot().itertext()).split())
    folders = {file.parent.name for file in (ROOT / "vitexplorer").glob("*/__init__.py")}
    assert folders
    assert folders <= words


# ---------------------------------------------------------------------------------------------- the README


def test_the_readme_is_short():
    assert README.stat().st_size <= 9_000, "the rest stands in docs/"


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


# ---------------------------------------------------------------------------------------------- the changes


def test_the_changes_of_a_version_fit_a_screen():
    _, *versions = text_of(ROOT / ".github" / "CHANGELOG.md").split("\n## ")
    assert all(len(changes.strip().splitlines()[2:]) <= 30 for changes in versions)
    assert versions[0].split()[0] == vx.__version__


# ---------------------------------------------------------------------------------------------- commands and code


def commands() -> list[str]:
    """Return the program's arguments: of the command or, where it is not installed, of the module."""
    lines = "\n".join(code_blocks("bash")).replace("\\\n", " ")
    return re.findall(r"^(?:python -m )?vitexplorer (.*)", lines, re.MULTILINE)


def test_the_commands_exist_with_their_options():
    """`--help` works only if all options before it are known."""
    assert commands()
    for command in commands():
        done = CliRunner().invoke(build_app("en"), [*shlex.split(command, comments=True), "--help"])
        assert done.exit_code == 0, f"{command}\n{done.output}"


ELSEWHERE = {"docs/api.md", "docs/methods.md"}
"""Code of all pages runs, except pages that need a server or small models: `test_scripts`, `test_training`."""
PYTHON = [(address(page), code) for page in PAGES for code in code_blocks("python", page)]


@pytest.mark.parametrize("code", [pytest.param(code, id=page) for page, code in PYTHON if page not in ELSEWHERE])
def test_python_code_runs(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(next(iter(examples().values())).path, "picture.jpg")
    class_folders(Path("photographs"), 4)
    own = code.replace('"assets/', f'"{ROOT.as_posix()}/assets/').replace(".png", ".json")
    exec(own, {})
    printed = capsys.readouterr().out.replace("\u00a0", " ")
    assert all(reading in printed for reading in re.findall(r'vx\.reading\(result\)\)  # "?(.*?) \.\.\.', code))
    assert all(Path(name).is_file() for name in re.findall(r'vx\.save\(.*"(.*?)"\)', own))


def test_the_package_is_used_from_another_folder(tmp_path, monkeypatch, thorough):
    """The example picture and a bundled model are found from any folder."""
    monkeypatch.chdir(tmp_path)
    command = ["attention-map", "--block", "1", "--out", "map.json"]
    done = CliRunner().invoke(build_app("en"), command)
    assert done.exit_code == 0, done.output
    assert Path("map.json").is_file()
    if thorough:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        Path("map.json").unlink()
        subprocess.run([sys.executable, "-m", "vitexplorer", *command], env=environment, check=True)
        assert Path("map.json").is_file()


# ---------------------------------------------------------------------------------------------- links and names


def links(page: Path) -> list[tuple[Path, str]]:
    """Return files that a page links to, each with its heading, if any."""
    result = re.findall(r"\]\((?!http)([^)#\s]*)#?([^)\s]*)\)", text_of(page))
    return [((page.parent / file).resolve() if file else page, heading) for file, heading in result]


def headings(page: Path) -> set[str]:
    """Return headings as links name them."""
    prose = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    lines = re.findall(r"^#+ (.*)", prose, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line).strip().lower().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", CHECKED, ids=address)
def test_the_files_it_links_to_exist(page):
    assert not [file for file, heading in links(page) if not file.exists()]
    assert not [(file.name, heading) for file, heading in links(page) if heading and heading not in headings(file)]


@pytest.mark.parametrize("page", CHECKED, ids=address)
def test_the_files_and_modules_it_names_exist(page):
    text = text_of(page)
    files = [
        ROOT / path
        for path in re.findall(r"`((?:vitexplorer|training|assets|tests|benchmarks|docs|\.ci)/[\w./]*)`", text)
    ]
    modules = re.findall(r"python -m ((?:vitexplorer|training|tests|benchmarks|docs)\.[\w.]+)", text)
    places = [ROOT / module.replace(".", "/") for module in modules]
    files += [place / "__main__.py" if place.is_dir() else place.with_suffix(".py") for place in places]
    assert not [path for path in files if not path.exists()]
    for name in re.findall(r"`(vitexplorer(?:\.\w+)+)`", text):
        assert resolve_name(name), name


def test_the_index_has_every_page():
    assert {page for page in PAGES if page != README} - {INDEX} <= {file for file, _ in links(INDEX)}
