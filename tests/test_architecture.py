"""Architecture rules: imports point down, no grid size is written as a number, folders are small, imports are quick.

The import contracts are in `.importlinter`; here they are run, and what an import graph cannot see is looked for.
"""

import ast
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from tests.helpers.tree import PACKAGE, ROOT, tracked_files

SOURCES = sorted(PACKAGE.rglob("*.py"))
SEES_TOKENS = ("capture.py", "types.py", "controls", "quantities", "interventions", "views", "finetune", "families")
MOST_LINES = 320
TABLES = {"vitexplorer/ui/kit/glossary.py"}  # data, however long
MOST_FILES = 30
REGISTRIES = {
    "views",
    "models/families",
    "models/checkpoints/readers",
    "finetune/methods",
}  # one file each, however many


def texts(files: list[Path]) -> dict[str, str]:
    """Return the text of every text file, by its name in the repository."""
    contents = {file.relative_to(ROOT).as_posix(): file.read_bytes() for file in files}
    return {name: data.decode() for name, data in contents.items() if b"\0" not in data and _is_utf8(data)}


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


# ---------------------------------------------------------------------------------------------- imports


def test_the_import_contracts_hold(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [*sys.path])  # the linter puts the working directory first
    monkeypatch.setattr("importlinter.cli.logging_config.dictConfig", lambda _: None)  # it would silence our loggers
    assert lint_imports(no_cache=True, no_logo=True) == 0, "the captured output names the imports"


NAMES_PACKAGE = {"import_module": 0, "__import__": 0, "Registry": 1}
"""Position of the argument that names a module, by function"""
LATE = {
    "vitexplorer/__init__.py": "hands out the public functions, each imported when it is first used",
    "vitexplorer/core/registry.py": "imports the package that a registry is given; where one is made is checked",
}


def late_imports(source: str, module: str, package: str) -> list[str]:
    """Yield modules that code names in a string and imports as it runs; "?" where the name is computed."""
    own = {"__name__": module, "__package__": package}
    names = []
    for call in ast.walk(ast.parse(source)):
        function = getattr(call.func, "id", getattr(call.func, "attr", "")) if isinstance(call, ast.Call) else ""
        if function in NAMES_PACKAGE and len(call.args) > NAMES_PACKAGE[function]:
            name = call.args[NAMES_PACKAGE[function]]
            pieces = name.values if isinstance(name, ast.JoinedStr) else [name]
            first = pieces[0].value if isinstance(pieces[0], ast.FormattedValue) else pieces[0]
            names.append(own.get(first.id, "?") if isinstance(first, ast.Name) else getattr(first, "value", "?"))
    return [name if isinstance(name, str) else "?" for name in names]


def imports_upwards(source: str, module: str, package: str) -> list[str]:
    """Return late imports of this project that lead out of the importing module's own package."""
    dotted = [f"{name}." for name in late_imports(source, module, package)]
    return [name for name in dotted if name.startswith(("?", "vitexplorer.")) and not name.startswith(f"{package}.")]


def test_no_late_import_leads_out_of_its_package():
    """Late imports make no circle: the linter sees import statements alone."""
    upwards = {}
    for file in SOURCES:
        parts = file.relative_to(ROOT).with_suffix("").parts
        package = ".".join(parts[:-1])
        module = package if parts[-1] == "__init__" else ".".join(parts)
        if result := imports_upwards(file.read_text("utf-8"), module, package):
            upwards[file.relative_to(ROOT).as_posix()] = result
    assert upwards.keys() == LATE.keys()


@pytest.mark.parametrize(
    ("call", "leads_out"),
    [
        ('import_module("vitexplorer.notebook")', True),
        ('importlib.import_module(f"vitexplorer.ui.{name}")', True),
        ('Registry("view", "vitexplorer.views", "VIEW")', True),
        ("import_module(path)", True),
        ('import_module("vitexplorer.core.text")', False),
        ('import_module(f"{__package__}.{name}")', False),
        ('Registry("view", __name__, "VIEW")', False),
        ('import_module("pandas")', False),
    ],
)
def test_late_imports_are_noticed(call, leads_out):
    assert bool(imports_upwards(call, "vitexplorer.core.example", "vitexplorer.core")) == leads_out


def imported_by(*statements: str) -> list[set[str]]:
    """Return the top-level packages in memory after each statement, in one fresh interpreter."""
    written = "print(*{name.split('.')[0] for name in sys.modules})"
    code = "\n".join(["import sys", *(f"{statement}\n{written}" for statement in statements)])
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [set(line.split()) for line in done.stdout.splitlines()]


def test_what_is_slow_waits_until_it_is_needed():
    """Gradio imports pandas, which loads pyarrow: who asks for that still gets it beside the page."""
    plain, listed, program, page, first_map, asked = imported_by(
        "import vitexplorer as vx",
        "vx.models()",
        "import vitexplorer.cli",
        "import vitexplorer.ui",
        "import vitexplorer.capturing.capture, vitexplorer.views, vitexplorer.figures, vitexplorer.diagnosis.examples",
        "import pyarrow.parquet, pandas; pandas.DataFrame({'a': ['b']})",
    )
    slow = {"torch", "timm", "pyarrow", "duckdb", "scipy", "sklearn"}
    assert not plain & slow
    assert not listed & slow
    assert not program & slow
    assert not page & (slow - {"pyarrow"})
    assert not first_map & (slow - {"pyarrow", "torch", "timm"})
    assert "pyarrow" in asked


# ---------------------------------------------------------------------------------------------- code

GRID_WRITTEN_DOWN = {
    "a number of patches or tokens": re.compile(r"(?<![\w.])(14|196|197)(?![\w.])"),
    "a slice that takes one prefix token for granted": re.compile(r"\[\s*:\s*,\s*1\s*:|\[\s*1\s*:\s*,\s*1\s*:"),
    "a side from the square root of a count": re.compile(r"\b(sqrt|isqrt)\(\s*(num_)?(tokens|patches|n)\b"),
}


def code_lines(file: Path) -> dict[int, str]:
    """Return lines by number without comments and strings."""
    lines: dict[int, list[str]] = {}
    with file.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
                lines.setdefault(token.start[0], []).append(token.string)
    return {number: " ".join(tokens) for number, tokens in lines.items()}


@pytest.mark.parametrize("what", GRID_WRITTEN_DOWN)
def test_a_patch_grid_is_asked_for_not_assumed(what):
    result = [
        f"{file.relative_to(ROOT)}:{number}: {line}"
        for file in SOURCES
        if any(part in file.relative_to(PACKAGE).as_posix() for part in SEES_TOKENS)
        for number, line in code_lines(file).items()
        if GRID_WRITTEN_DOWN[what].search(line)
    ]
    assert not result, f"{what}; ask `capture.grid(block)` and `capture.prefix_tokens`"


def test_the_patterns_find_what_they_are_for():
    examples = ["grid = 14", "x [ : , 1 : ]", "attention [ 1 : , 1 : ]", "sqrt( tokens )"]
    assert all(any(pattern.search(line) for pattern in GRID_WRITTEN_DOWN.values()) for line in examples)
    innocent = ["x [ : , 1 ]", "0.14", "size = 140", "sqrt( dim )"]
    assert not any(pattern.search(line) for pattern in GRID_WRITTEN_DOWN.values() for line in innocent)


def test_a_file_is_one_idea():
    lengths = {file.relative_to(ROOT).as_posix(): len(code_lines(file)) for file in SOURCES}
    assert not {name: length for name, length in lengths.items() if length > MOST_LINES and name not in TABLES}


def test_a_folder_is_seen_at_a_glance():
    files = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".js", ".html", ".css")]
    sizes = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in files)
    assert sizes.keys() >= REGISTRIES
    assert not {name: size for name, size in sizes.items() if size > MOST_FILES and name not in REGISTRIES}


# ---------------------------------------------------------------------------------------------- the repository


def test_no_file_knows_where_it_was_written():
    own_place = ROOT.as_posix() if len(ROOT.parts) > 2 else "\0"
    home = re.compile(r"(?<![\w.$}/:-])/(root|home|Users|work|mnt)/\w+")
    result = [
        f"{name}: {line.strip()[:120]}"
        for name, text in texts(tracked_files()).items()
        if name != "Dockerfile"  # has a home of its own
        for line in text.splitlines()
        if own_place in line or home.search(line)
    ]
    assert not result


def test_no_generated_file_is_committed():
    made = re.compile(r"(^|/)(__pycache__|\.venv|runs)/|\.pyc$|\.tmp$|\.DS_Store$")
    assert not [name for name in texts(tracked_files()) if made.search(name)]


def test_the_top_level_is_what_the_design_says():
    allowed = {
        "app.py",
        "vitexplorer",
        "assets",
        "tests",
        "CITATION.cff",
        "LICENSE",
        "docs",
        "pyproject.toml",
        "requirements.txt",
        "requirements-agents.txt",
        "requirements-dev.txt",
        "requirements-notebook.txt",
        "requirements-ray.txt",
        "requirements-words.txt",
        "requirements.lock",
        "training",
        "Dockerfile",
        "README.md",
        "benchmarks",
    }
    top = {file.relative_to(ROOT).parts[0] for file in tracked_files()}
    assert not {name for name in top if not name.startswith(".")} - allowed


# ---------------------------------------------------------------------------------------------- the tests

OWN_FOLDERS = {"helpers", "golden", "mutants"}
SEVERAL_MODULES = {
    "benchmarks/test_all": "every benchmark in its smallest form",
    "capturing/test_peers": "captures against transformers",
    "evaluation/test_evaluation_peer": "protocols against Quantus",
    "finetune/job/test_broken_jobs": "damaged files of every kind in a job",
    "models/checkpoints/test_any_file": "files of other libraries",
    "models/checkpoints/test_broken_files": "damaged files of every reader",
    "models/checkpoints/test_paper_files": "files of the original repositories",
    "models/wrapping/test_wrap_encoder": "every kind of view on one wrapped encoder",
    "ui/kit/test_motion_browser": "motion of every component",
    "storage/test_full_disk": "every writer on a full disk",
    "survey/test_counted_sentences": "counts in the sentences of surveys",
    "survey/test_damage": "damaged files of every kind in a survey",
    "survey/test_statistics": "answers, export and comparison of surveys",
    "ui/gradio_adapter/test_private_names": "private names outside the adapter",
    "ui/server/api/test_agents": "tools as MCP's own client calls them",
    "ui/server/api/test_scripts": "a running page as other programs call it",
    "ui/server/test_hosted_page": "all guards of a hosted page",
    "ui/server/test_space": "settings of a Hugging Face Space",
    "ui/server/test_start": "refusals to start",
    "ui/shell/test_lecture_browser": "a walk: every room in lecture mode",
    "ui/test_every_size_browser": "a walk: what the page promises, at four window sizes",
    "ui/test_links_browser": "a walk: links from every room",
    "ui/test_modules": "scripts and sheets, by node",
    "views/test_on_gpu": "every view, change and comparison on a GPU",
    "views/test_one_output": "every view of a model with one output",
    "views/test_readings": "readings of every view",
    "views/test_relevance": "every relevance map",
    "views/test_what_views_run": "every view's record of its passes",
}
"""Test files that mirror no single module, and their subject"""


def mirrored_folder(folder: Path) -> Path:
    """Return the folder whose modules the tests of this folder, below `tests/`, cover."""
    return (ROOT if folder.parts[0] in ("training", "benchmarks") else PACKAGE) / folder


def is_mirror(file: Path) -> bool:
    """Return whether a test file, below `tests/`, is named after its folder, or a module or package in it."""
    folder, name = mirrored_folder(file.parent), file.stem.removeprefix("test_").removesuffix("_browser")
    return name == folder.name or (folder / name).is_dir() or (folder / f"{name}.py").is_file()


def test_the_tests_mirror_the_tree():
    tests = [file.relative_to(ROOT / "tests") for file in sorted((ROOT / "tests").rglob("test_*.py"))]
    below = [file for file in tests if len(file.parts) > 1 and file.parts[0] not in OWN_FOLDERS]
    assert below
    assert not [file for file in below if not mirrored_folder(file.parent).is_dir()]
    scripts = [file.relative_to(ROOT / "tests") for file in (ROOT / "tests").rglob("*.test.mjs")]
    assert scripts
    modules = [(PACKAGE / file).with_name(file.name.replace(".test.mjs", ".js")) for file in scripts]
    assert not [module for module in modules if not module.is_file()]
    others = {file.with_suffix("").as_posix() for file in below if not is_mirror(file)}
    assert others == SEVERAL_MODULES.keys()


def test_no_test_imports_from_another():
    taken = re.compile(r"^\s*(from|import) tests\.(\w+\.)*test_\w+", re.MULTILINE)
    files = [file for folder in ("tests", "benchmarks", "docs") for file in (ROOT / folder).rglob("*.py")]
    assert not [file.relative_to(ROOT) for file in files if taken.search(file.read_text(encoding="utf-8"))]


# ---------------------------------------------------------------------------------------------- the page

MARKUP = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|createContextualFragment")
CODE = re.compile(r"\beval\(|new Function\b")


MOTION = re.compile(r"\.animate\(|\bbehavior: |setInterval\(")
MOVES = {
    "motion.js": "asks for it",
    "around.js": "asks for it",
    "change_part.py": "asks for it",
    "welcome.js": "asks for it",
    "pointing.js": "a person pressed play",
    "fading.js": "a person pressed Blink",
    "progress.js": "nothing moves: it asks for the progress of a training",
}


def test_nothing_moves_for_those_who_ask_for_less_motion():
    """Scripts that move something ask first; `kit/theme.css` holds all style-sheet motion still."""
    scripts = {path for path in (PACKAGE / "ui").rglob("*") if path.suffix in (".js", ".py")}
    moving = {path.name: path.read_text(encoding="utf-8") for path in scripts if MOTION.search(path.read_text("utf-8"))}
    assert {name for name, text in moving.items() if not re.search("isStill|prefers-reduced-motion", text)} == {
        name for name, why in MOVES.items() if why != "asks for it"
    }
    assert moving.keys() == MOVES.keys()
    sheets = [path for path in (PACKAGE / "ui").rglob("*.css") if "prefers-reduced-motion" in path.read_text("utf-8")]
    assert [path.name for path in sheets] == ["theme.css"]


def test_no_script_reads_markup_or_code():
    """Names of classes, files and models come from visitors: set as text, they are harmless."""
    scripts = [path for suffix in ("*.js", "*.mjs") for path in (PACKAGE / "ui").rglob(suffix)]
    assert len(scripts) > 20
    result = [path.name for path in scripts for rule in (MARKUP, CODE) if rule.search(path.read_text(encoding="utf-8"))]
    assert result == []


def test_what_a_test_waits_for_in_a_browser_is_a_function():
    """Any other text is read anew each time, which the policy of plain pages forbids: it passes if true at once."""
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    text = re.compile(r"""wait_for_function\(\s*f?"+(?!["(]|[a-z]+ =>)""")
    assert text.search('page.wait_for_function("window.ready")')
    assert [file.name for file in files if file != Path(__file__) and text.search(file.read_text("utf-8"))] == []
