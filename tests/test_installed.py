"""The package installed by `pip install .`, used from a folder outside of the checkout."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from PIL import Image

from tests.helpers.app import running_app
from tests.helpers.documentation import README, code_blocks
from tests.helpers.tree import ROOT, tracked_files

PICTURE = ROOT / "assets" / "examples" / "scene_fish.webp"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel without a network, with the build backend of requirements-dev.txt."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, ROOT], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the programs folder of an environment with the wheel and the packages of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "others.pth").write_text("\n".join(others), encoding="utf-8")
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile"]
    command = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", *options, wheel]
    subprocess.run(command, check=True)
    yield folder / "bin"
    shutil.rmtree(folder)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a picture in it and no path to the checkout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    Image.open(PICTURE).save("picture.jpg")
    return tmp_path


def output_of(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def requirements(file: str) -> Iterator[Requirement]:
    for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            yield from requirements(line.removeprefix("-r "))
        elif not line.startswith("#"):
            yield Requirement(line)


def test_the_lock_has_a_version_of_all_that_is_asked_for() -> None:
    locked = {canonicalize_name(one.name): str(one.specifier) for one in requirements("requirements.lock")}
    for requirement in requirements("requirements-dev.txt"):
        assert locked[canonicalize_name(requirement.name)].removeprefix("==") in requirement.specifier


def test_the_wheel_holds_the_package_its_models_and_examples(wheel: Path) -> None:
    names = {file.relative_to(ROOT).as_posix() for file in tracked_files()}
    package = {name for name in names if name.startswith("vitexplorer/")}
    needed = ("assets/models/", "assets/examples/", "assets/truth.json")
    assets = {f"vitexplorer/{name}" for name in names if name.startswith(needed)}
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == package | assets


def test_the_help_does_not_wait_for_torch(programs: Path, elsewhere: Path) -> None:
    command = [programs / "python", "-X", "importtime", programs / "vitexplorer", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "vitexplorer.cli" in imported
    assert not imported & {"torch", "timm", "gradio", "plotly"}
    assert "Usage: vitexplorer" in done.stdout


@pytest.mark.browser
@pytest.mark.thorough
def test_a_view_is_drawn(programs: Path, elsewhere: Path) -> None:
    output_of(programs / "vitexplorer", "compute", "attention_rollout", "--image", "picture.jpg", "-o", "y.png")
    with Image.open("y.png") as drawn:
        assert min(drawn.size) > 500


def test_the_lines_of_the_readme_run(programs: Path, elsewhere: Path) -> None:
    lines = code_blocks("python", README)[0].replace(".png", ".json")
    lines = lines.replace("assets/examples/scene_fish.webp", "picture.jpg")  # the path is one of the checkout
    code = f"{lines}\nprint(vx.__file__)\nprint(vx.__version__)"
    *_, file, version = output_of(programs / "python", "-c", code).splitlines()
    assert Path(file).is_relative_to(programs.parent)
    assert version == tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert json.loads(Path("relevance.json").read_text(encoding="utf-8"))["provenance"]["weights"] == "bundled"


def test_the_page_opens(programs: Path, elsewhere: Path) -> None:
    with running_app([programs / "vitexplorer", "app"], elsewhere) as address, httpx.Client(base_url=address) as client:
        assert client.get("/healthz").json().keys() == {"ready", "device", "version"}
        page = client.get("/").text
        (script,) = set(re.findall(r'src="\.?(/modules/[^"]+)"', page))
        assert client.get(script).status_code == 200
