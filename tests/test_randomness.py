"""Random numbers come from local generators: the global ones are shared by all threads of the process."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator

import pytest
import torch

from tests.helpers.tree import ROOT
from training.recipes import all_recipes
from vitexplorer.core.text import SettingError
from vitexplorer.models.seeding import TURN, seeded, stream

FOLDERS = ("vitexplorer", "tests", "benchmarks")
FILES = [ROOT / "app.py", *(path for folder in FOLDERS for path in ROOT.glob(f"{folder}/**/*.py"))]

OWN = {"random": {"Random", "SystemRandom"}, "numpy.random": {"default_rng", "Generator", "SeedSequence"}}
"""Functions of these modules that do not use a global generator"""
TORCH = {
    "torch.bernoulli", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all", "torch.default_generator.manual_seed",
    "torch.manual_seed", "torch.multinomial", "torch.normal", "torch.poisson", "torch.rand", "torch.rand_like",
    "torch.randint", "torch.randint_like", "torch.randn", "torch.randn_like", "torch.random.fork_rng",
    "torch.random.manual_seed", "torch.random.seed", "torch.randperm", "torch.seed",
}  # fmt: skip
"""Functions that draw from torch's global generators, or seed them, unless given a `generator`"""
IN_PLACE = {"bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_"}
"""Methods of tensors that do"""
CONSTANT = {"constant_", "dirac_", "eye_", "ones_", "zeros_"}
"""Functions of torch.nn.init that draw nothing"""
SEEDED = {"vitexplorer.models.seeding.seeded", "vitexplorer.models.seeding.stream"}
"""Contexts in which the global generators may be used"""
ALLOWED = {
    "vitexplorer/models/seeding.py": {"stream"},
    "vitexplorer/finetune/methods/mlp_k.py": {"_deepened"},  # within `attach`, which is seeded
    "training/several_vit.py": {"with_registers"},  # within `Recipe.start`, which is seeded
    "tests/helpers/small_models.py": {"roughen"},  # within what makes a small model, which is seeded
    "tests/models/test_loading.py": {"test_random_weights_are_timms_under_the_seed"},  # what `seeded` is held against
}
"""Functions that are called within such a context, or test it, by file"""
FIRST_VALUES = "__init__"
"""Method of a module that draws as timm's own parts do, within the context that makes the module"""


def imported(tree: ast.Module) -> dict[str, str]:
    """Return the dotted path of each imported name of a file."""
    result = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                whole = one.name if one.asname else one.name.split(".")[0]
                result[one.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and node.module:
            result |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return result


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """Return `np.random.rand` as numpy.random.rand; names without an import begin with a dot."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value, names)}.{node.attr}"
    return names.get(node.id, "") if isinstance(node, ast.Name) else ""


def is_global(call: ast.Call, names: dict[str, str]) -> bool:
    """Return whether a call draws from a global generator, or seeds one."""
    name = dotted(call.func, names)
    module, _, last = name.rpartition(".")
    if module in OWN:
        return last not in OWN[module]
    if any(keyword.arg == "generator" for keyword in call.keywords):
        return False
    return name in TORCH or last in IN_PLACE or (module == "torch.nn.init" and last not in CONSTANT)


def global_draws(source: str, allowed: frozenset[str] = frozenset()) -> list[str]:
    """Return "line: call" for each use of a global generator outside of the allowed places."""
    tree = ast.parse(source)
    names = imported(tree)

    def may_draw(node: ast.AST) -> bool:
        if isinstance(node, ast.With):
            calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
            return any(dotted(call.func, names) in SEEDED for call in calls)
        return isinstance(node, ast.FunctionDef) and node.name in allowed

    def below(node: ast.AST) -> Iterator[str]:
        if may_draw(node):
            return
        if isinstance(node, ast.Call) and is_global(node, names):
            yield f"{node.lineno}: {ast.unparse(node)}"
        for child in ast.iter_child_nodes(node):
            yield from below(child)

    return list(below(tree))


def test_nothing_of_ours_draws_from_a_global_generator():
    result = []
    for path in FILES:
        name = path.relative_to(ROOT).as_posix()
        allowed = frozenset(ALLOWED.get(name, ())) | {FIRST_VALUES}
        result += [f"{name}:{draw}" for draw in global_draws(path.read_text(encoding="utf-8"), allowed)]
    assert not result, "\n".join(result)


@pytest.mark.parametrize(
    "line",
    [
        "import random; random.random()",
        "from random import shuffle; shuffle([])",
        "import numpy as np; np.random.seed(0)",
        "import torch as t; t.manual_seed(0)",
        "from torch import randn; randn(3)",
        "import torch; torch.random.fork_rng()",
        "from torch import nn; nn.init.normal_(w)",
        "w.data.normal_()",
    ],
)
def test_a_global_draw_is_found(line):
    assert len(global_draws(line)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "import random; random.Random(0).random()",
        "import numpy as np; np.random.default_rng(0).random()",
        "import torch; torch.randn(3, generator=g)",
        "from torch import nn; nn.init.zeros_(w)",
        "import torch\nfrom vitexplorer.models.seeding import seeded\nwith seeded(0): torch.rand(1)",
    ],
)
def test_a_draw_of_ones_own_is_not(line):
    assert not global_draws(line)


# ---------------------------------------------------------------------------------------------- torch's own


def test_seeded_draws_as_torch_does_and_nobody_notices():
    expected = torch.randn(5, generator=torch.Generator().manual_seed(7))
    before = torch.get_rng_state()
    with seeded(7):
        assert torch.equal(torch.randn(5), expected)
    with pytest.raises(ZeroDivisionError), seeded(7):
        raise ZeroDivisionError
    assert torch.equal(torch.get_rng_state(), before)
    with pytest.raises(SettingError, match="64 bits"), seeded(2**64):
        pass


def test_a_thread_that_loads_does_not_change_the_numbers_of_one_that_trains():
    """The threads take turns: the other draws between our draws, and waits while ours are being made."""
    expected = torch.randn(2, 5, generator=torch.Generator().manual_seed(7))
    before, drawn = torch.get_rng_state(), []

    def other() -> None:
        with seeded(1):
            drawn.append(torch.randn(5))

    with stream(7):
        with TURN:
            threads = [threading.Thread(target=other) for _ in range(4)]
            for thread in threads:
                thread.start()
            first = torch.randn(5)
            assert not drawn
        for thread in threads:
            thread.join()
        with TURN:
            second = torch.randn(5)
    assert torch.equal(torch.stack([first, second]), expected)
    assert all(torch.equal(one, torch.randn(5, generator=torch.Generator().manual_seed(1))) for one in drawn)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_recipe_starts_without_a_trace():
    recipe, before = all_recipes()["scenes_vit_patch16_192"], torch.get_rng_state()
    recipe.untrained(3)
    recipe.start(3)
    assert torch.equal(torch.get_rng_state(), before)
