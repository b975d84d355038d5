"""Terminal output: records as a few lines, user errors as one sentence."""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers import typecheck
from tests.helpers.expected_refusals import is_refused
from tests.helpers.least_settings import cheaply
from tests.helpers.small_models import capture_small, load_small, picture
from tests.helpers.survey_folder import synthetic_survey
from tests.helpers.tree import ROOT
from vitexplorer.comparisons import COMPARISONS, refusal
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.short_tracebacks import ends_at_caller
from vitexplorer.core.summaries import MOST_CHARACTERS, MOST_LINES, Summarised, Summary, array_text
from vitexplorer.core.text import ExplainedError, same
from vitexplorer.core.types import EvaluationResult, Provenance
from vitexplorer.finetune.comparison import Comparison
from vitexplorer.finetune.results.records import Baseline, Epoch, FinetuneResult, LearningCurve
from vitexplorer.views import VIEWS, compute


def assert_short(record: object) -> None:
    """Check for at most eight lines of at most 120 characters, with no array or tensor in them."""
    lines = repr(record).splitlines()
    assert str(record) == repr(record)
    assert len(lines) <= MOST_LINES == 8, record
    assert max(map(len, lines)) <= MOST_CHARACTERS == 120, record
    assert not any(word in repr(record) for word in ("tensor(", "array(", "Text(", "<", "\x1b")), record
    assert all(line == line.rstrip() for line in lines), record


# ------------------------------------------------------------------------------------------ everything there is


@pytest.mark.contract
@pytest.mark.parametrize("view", VIEWS)
def test_the_result_of_a_view_is_short_and_its_hint_holds(view):
    captured = capture_small("vit")
    if view == "before_after":
        captured = vx.intervene(captured, "temperature:temperature=2")
    elif is_refused(view, "vit"):
        return
    result = cheaply(view, captured)
    assert_short(result)
    assert f"{view} of vit, RANDOM weights (seed 0)" in repr(result)
    assert "vx.reading(result)" in repr(result)
    assert vx.reading(result)


def records() -> Iterator[object]:
    """Return results of the package's functions for small models."""
    vit, swin = capture_small("vit"), capture_small("swin")
    yield from (vit, swin, capture_small("encoder"), vx.intervene(vit, "positions:how=off;heads_off:heads=1.0"))
    yield from vx.capture_batch(vit.model, [picture(64, 64), picture(64, 64, seed=1)], fit="squash")
    yield from (compute("attention_map", vit, query=(0, 2)), compute("attention_map", swin, block=1, query=(1, 1)))
    yield from (
        vx.compare(key, vit, other) for key in COMPARISONS for other in (vit, swin) if not refusal(key, vit, other)
    )
    yield from (vit.model, swin.model, load_small("encoder"), load_small("deit_distilled"))
    yield from (vx.attach(vit.model, key, num_classes=3) for key in ("lora", "vpt_deep"))
    yield vx.load_backbone("resnet10t", weights="random")
    yield from vx.size_choices(vit.model)
    for listed in (vx.views(), vx.methods(), vx.interventions(), vx.comparisons()):
        yield from listed.values()
    yield from vx.models()
    yield from (a_run(), a_run().per_class, a_comparison(), an_evaluation())


def test_every_record_is_short():
    for record in records():
        assert_short(record)


def test_surveys_are_short(tmp_path):
    left, right = (vx.open_survey(synthetic_survey(tmp_path / name, model=name)) for name in ("left", "right"))
    assert_short(left)
    assert "RANDOM weights" in repr(left)
    assert_short(vx.compare_surveys(left, right))


def subclasses(kind: type) -> set[type]:
    return {one for child in kind.__subclasses__() for one in ({child} | subclasses(child))}


def test_no_dataclass_writes_a_repr_of_its_own():
    assert {kind.__repr__ for kind in subclasses(Summarised)} == {Summarised.__repr__}


def test_a_comparison_does_not_send_people_to_the_reading_of_views():
    captured = capture_small("vit")
    assert "vx.reading" not in repr(vx.compare("costs", captured, captured))


# ------------------------------------------------------------------------------------------ by hand


def a_run(**changes) -> FinetuneResult:
    """Make a dataset result with two of three images right."""
    epochs = tuple(Epoch(n, 1.0 / n, {"accuracy": n / 3, "loss": 1.0}, 0.001, 2.0 * n) for n in (1, 2))
    options = {"method": "lora", "settings": {"r": 4, "alpha": 8.0}, "epochs": epochs, "best": 1, "seconds": 4.0}
    options |= {
        "total": 2_000,
        "trainable": 100,
        "head": 20,
        "file_bytes": 400,
        "run": "lora",
        "task": "classification",
    }
    options |= {"base": ("scenes_vit_patch16_192", "random", 3), "metric": "accuracy", "classes": ("cat", "dog")}
    options |= {"paths": ("a", "b", "c"), "targets": np.array([0, 0, 1]), "file": Path("runs/tuned.safetensors")}
    options |= {"outputs": np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]])}
    options |= {"baseline": Baseline("accuracy", {"accuracy": 1 / 3}, 0.5, 1.0, LearningCurve((), ()), 0.1, 0.1)}
    return FinetuneResult(**options | changes)


def a_comparison() -> Comparison:
    runs = tuple(a_run(run=f"lora-{n}") for n in range(20))
    return Comparison(Path("runs"), runs, None, (("full", same("There is not enough memory.")),))


def an_evaluation() -> EvaluationResult:
    table = np.array([[0.25, np.nan], [0.5, 1.0]])
    return EvaluationResult(
        view="evaluate",
        title=same("Table"),
        values=table,
        axes=("methods", "protocols"),
        unit=same("mean over the cases"),
        formula="",
        provenance=Provenance("tiny", "pretrained", "hub/tiny"),
        methods=("grad_cam", "random"),
        titles=(same("Grad-CAM"), same("Random")),
        protocols=("pointing", "overlap"),
        names=(same("pointing"), same("overlap")),
        better=("high", "high"),
        low=table,
        high=table,
        counts=np.ones((2, 2), int),
    )


def test_a_result_of_a_bundled_model():
    captured = vx.capture(vx.load_model("scenes_vit_patch16_192"), ASSETS / "examples" / "scene_fish.webp")
    result = vx.compute("attention_rollout", captured)
    values = result.values
    assert f"{values.min():.5f} {values.max():.4f} {values.mean():.5f}" == "0.00316 0.0232 0.00676"
    assert str(result).splitlines() == [
        "attention_rollout of scenes_vit_patch16_192, bundled weights, trained on drawn pictures",
        f"  image    {captured.input.image_hash[:8]} fitted by crop to 192 × 192 px",
        "  values   12 rows × 12 cols float32, 0.00316 to 0.0232, mean 0.00676, share of the query's rollout",
        "  query    class token",
        "  settings head_fusion=mean, discard_ratio=0.0, start_block=0",
        "  also     .grid, .image 192 × 192 × 3, .prefix_names, .prefix_weights 1, .padding_mass, .identity_mass",
        '  vx.reading(result) says it in a sentence; vx.render(result) draws it; vx.save(result, "x.png") keeps it',
    ]
    head, image, blocks, answer, memory, _ = str(captured).splitlines()
    assert head == "capture of scenes_vit_patch16_192, bundled weights, trained on drawn pictures"
    assert image == f"  image  {captured.input.image_hash[:8]} fitted by crop to 192 × 192 px"
    assert blocks == "  blocks 6, 12 × 12 patches of 16 px; prefix tokens: cls"
    assert answer.startswith("  answer fish, 9")
    assert memory == f"  memory {captured.nbytes / 1e6:.2f} MB"


def test_a_changed_run_and_what_stands_beside_it():
    captured = capture_small("vit")
    changed = vx.intervene(captured, "positions:how=off")
    assert "\n  changed position embeddings off\n" in str(changed)
    assert "\n  beside vit, RANDOM weights (seed 0), nothing learned, " in str(vx.compare("costs", captured, changed))
    assert ", position embeddings off\n" in str(vx.compare("costs", captured, changed))


def test_models():
    model = load_small("swin")
    count = sum(parameter.numel() for parameter in model.module.parameters())
    assert str(model).splitlines() == [
        "model swin, RANDOM weights (seed 0), nothing learned",
        f"  family     Swin, {count:,} parameters",
        "  input      64 × 64 px",
        "  blocks     6, 16 × 16 patches of 4 px to 4 × 4 patches of 16 px; prefix tokens: none",
        "  classifier 7 outputs",
        '  vx.capture(model, "picture.jpg") runs it once; model.module is the torch module',
    ]
    tuned = vx.attach(load_small("vit"), "lora", num_classes=3, r=2)
    counts = vx.count_parameters(tuned)
    share = 100 * counts.trainable / counts.total
    assert str(tuned).splitlines()[1] == (
        f"  method     lora (r=2, alpha=8.0), trains {counts.trainable:,} parameters ({share:.2f} %), "
        f"{counts.head} of them the head"
    )


def test_a_fine_tuning_run():
    assert str(a_run()).splitlines() == [
        "lora (r=4, alpha=8.0) on scenes_vit_patch16_192, RANDOM weights (seed 3)",
        "  accuracy 66.7 % on 3 validation images",
        "  baseline 33.3 %",
        "  trained  100 of 2,000 parameters (5.00 %)",
        "  epochs   2 in 4.00 s, the best is number 2",
        "  classes  cat, dog",
        f"  file     {Path('runs/tuned.safetensors')}",
        "  run.model is the tuned model; run.metrics, run.per_class, run.confusion, run.wrong say how good it is",
    ]


def test_a_table_with_gaps():
    assert "  values 2 methods × 2 protocols float64, 0.250 to 1.00, mean 0.583, 1 not finite, mean over" in str(
        an_evaluation()
    )


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (np.array([[1, 2], [3, 60_000]]), "2 × 2 int64, 1 to 60,000, mean 15,000"),
        (np.array([True, False, True]), "3 bool, 2 true"),
        (np.array([np.nan, np.inf]), "2 float64"),
        (np.zeros((0, 3)), "0 × 3 float64"),
        (np.array(["a", "b"]), "2 <U1"),
    ],
)
def test_an_array_in_words(values, text):
    assert array_text(values) == text


def test_a_hostile_name_stays_on_its_line():
    rows = [("classes", "cat\x1b[2J\ndog"), ("nothing", None), ("long", "x" * 500), *[("more", 1)] * 20]
    lines = str(Summary("record\r\n", rows, "see more")).splitlines()
    assert lines[1] == "  classes cat [2J dog"
    assert len(lines) == MOST_LINES
    assert lines[2] == f"  long    {'x' * 109}…"
    assert lines[-1] == "  see more"


# ------------------------------------------------------------------------------------------ errors

ASKED = {
    "a function": lambda: vx.compute("atention_rollout", capture_small("vit")),
    "a module that answers a call": lambda: vx.intervene(capture_small("vit"), "nothing"),
    "an error made of another": lambda: vx.capture(load_small("vit"), __file__),
}


def frames(raised: pytest.ExceptionInfo) -> list[str]:
    """Return the function names of a traceback, without the test's own and the type checker's."""
    return [entry.name for entry in raised.traceback[1:] if entry.path != Path(typecheck.__file__)]


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_an_explained_error_ends_at_the_line_of_whoever_asked(ask):
    with pytest.raises(ExplainedError) as raised:
        ask()
    assert frames(raised) == ["<lambda>"]
    assert raised.value.__cause__ is None
    assert raised.value.text.en == str(raised.value)


def test_the_function_itself_keeps_its_frames(unchecked):
    with pytest.raises(UnknownNameError) as raised:
        compute("atention_rollout", capture_small("vit"))
    assert frames(raised) == ["compute", "__getitem__"]


def test_a_defect_keeps_all_frames_and_its_cause():
    def broken() -> None:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("defect") from error

    with pytest.raises(ValueError, match="defect") as raised:
        ends_at_caller(broken)()
    assert frames(raised) == ["public", "broken"]
    assert isinstance(raised.value.__cause__, KeyError)


def test_a_public_function_looks_like_itself():
    assert vx.compute is vx.compute
    assert pickle.loads(pickle.dumps(vx.compute)) is vx.compute
    assert inspect.signature(vx.compute) == inspect.signature(compute)
    assert vx.compute.__doc__ == compute.__doc__


def test_a_script_ends_with_its_own_line_and_the_sentence(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import vitexplorer as vx\n\nvx.save(None, 'picture.gif')\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    first, where, line, *marks, sentence = done.stderr.splitlines()
    assert first == "Traceback (most recent call last):"
    assert where == f'  File "{script}", line 3, in <module>'
    assert line.strip() == "vx.save(None, 'picture.gif')"
    assert not "".join(marks).strip(" ^")
    assert sentence.startswith("vitexplorer.figures.files.SaveError: The file name picture.gif states no format")
    assert done.returncode == 1
