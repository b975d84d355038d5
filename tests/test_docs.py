"""The README says what is true: its tables are made from the registries (`readme`), its commands and its code run."""

import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import vitexplorer as vx
from docs.make.tables import README, TABLES, region
from vitexplorer.cli.compare import side_parameters
from vitexplorer.cli.finetune import finetune_command
from vitexplorer.cli.names import dashed, full_name, questions
from vitexplorer.cli.survey import survey_command
from vitexplorer.cli.view import common_parameters
from vitexplorer.models.examples import examples

ROOT = Path(__file__).resolve().parent.parent


def code_blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def front_matter() -> dict[str, Any]:
    return yaml.safe_load(README.read_text(encoding="utf-8").split("---\n")[1])


# ---------------------------------------------------------------------------------------------- the tables


@pytest.mark.parametrize("name", sorted(set(TABLES) - {"families"}))  # those: `test_every_family`
def test_a_table_is_what_the_registry_says(name):
    found = region(name).search(README.read_text(encoding="utf-8"))
    assert found, f"the README has no table between <!-- {name} --> and <!-- end -->"
    assert found[0] == TABLES[name](), "python -m docs.make.tables"


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
    _, *versions = (ROOT / ".github" / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")
    assert all(len(changes.strip().splitlines()[2:]) <= 30 for changes in versions)
    assert versions[0].split()[0] == vx.__version__


# ---------------------------------------------------------------------------------------------- commands and code


def command_lines() -> list[str]:
    """What follows the name of the program, which is called so where it is installed, and otherwise as a module."""
    lines = "\n".join(code_blocks("bash")).replace("\\\n", " ").splitlines()
    return re.findall("^(?:python -m )?vitexplorer (.+)", "\n".join(lines), re.MULTILINE)


def spellings(parameters: list[Parameter]) -> set[str]:
    return {spelt for parameter in parameters for spelt in parameter.default.param_decls or ()}


def test_the_commands_exist_with_their_options():
    assert command_lines()
    for line in command_lines():
        command, *arguments = shlex.split(line.removeprefix("compute "), comments=True)
        others = ["app", "models", "views", "interventions", "compare", "finetune", "survey", "--help"]
        name = full_name(command, [*questions(), *others])
        options = {argument for argument in arguments if argument.startswith("-")}
        if name in questions():
            controls = {f"--{dashed(control.name)}" for control in vx.views()[name.replace("-", "_")].controls}
            assert options <= spellings(common_parameters("en")) | controls, line
        elif name == "compare":
            record = vx.comparisons().get(arguments[0].replace("-", "_"))
            sides = spellings(side_parameters("en"))
            assert options <= sides | {f"--{dashed(one.name)}" for one in record.controls} if record else True, line
        elif name == "finetune":
            assert options <= {f"--{dashed(option)}" for option in signature(finetune_command("en")).parameters}, line
        elif name == "survey":
            assert options <= {f"--{dashed(option)}" for option in signature(survey_command("en")).parameters}, line
        else:
            assert not options, line


def test_the_python_example_runs(tmp_path, monkeypatch):
    code = code_blocks("python")[0]  # the others call a page and train: `test_scripts`, `test_training`
    model = re.search(r'load_model\("(\w+)"', code)[1]
    if not any(entry.name == model for entry in vx.models()):
        pytest.skip(f"{model} is not bundled yet")
    monkeypatch.chdir(tmp_path)
    example = next(iter(examples().values())).path
    exec(code.replace('"picture.jpg"', repr(str(example))).replace(".png", ".json"), {})
    assert list(tmp_path.glob("*.json"))


def test_the_package_is_used_from_another_folder(tmp_path):
    """The example picture and a bundled model are found beside the package, wherever one stands."""
    command = [sys.executable, "-m", "vitexplorer", "attention-map", "--block", "1", "--out", "map.json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "map.json").is_file()


@pytest.mark.parametrize("page", [README, ROOT / ".github" / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_the_files_it_names_exist(page):
    text = page.read_text(encoding="utf-8")
    named = [ROOT / path for path in re.findall(r"`((?:vitexplorer|assets|tests|benchmarks|docs|\.ci)/[\w./]*)`", text)]
    named += [page.parent / path for path in re.findall(r"\]\((?!http)([\w./]+)\)", text)]
    modules = re.findall(r"python -m ((?:vitexplorer|tests|benchmarks|docs)\.[\w.]+)", text)
    places = [ROOT / module.replace(".", "/") for module in modules]
    named += [place / "__main__.py" if place.is_dir() else place.with_suffix(".py") for place in places]
    assert not [path for path in named if not path.exists()]
