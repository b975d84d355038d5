"""The command line: every view runs, errors are one line, and torch loads only for work."""

import csv
import json
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from safetensors.torch import save_file
from typer.testing import CliRunner

import vitexplorer as vx
from tests.helpers.least_settings import LEAST, OF_TEXTS
from tests.helpers.libraries import made, saved
from tests.helpers.small_models import picture
from tests.helpers.small_texts import save_clip
from tests.helpers.thorough import always, later
from vitexplorer.cli import build_app
from vitexplorer.cli.compare import beside
from vitexplorer.cli.names import dashed, full_name, questions
from vitexplorer.cli.runs import Run
from vitexplorer.cli.text import FITS, ProgressBar, table
from vitexplorer.comparisons import reading as compared
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import SettingError
from vitexplorer.figures.tables import as_json
from vitexplorer.finetune.job.folder import UPDATES, Update, Updates

VIEWS = vx.views()
SMALL = ["--model", "test_vit", "--weights", "random", "--weights-seed", "3"]
OTHERS = [
    ["--model", "test_vit4", "--weights", "random"],
    ["--model", "swin_tiny_patch4_window7_224", "--weights", "random"],
    ["--model", "scenes_mae_patch16_192", "--weights", "bundled"],
    ["--model", "scenes_captioner", "--weights", "bundled"],
]
NEEDED = {"before_after": ["--change", "top_k:k=4"]}


def least(key):
    """Return the options that ask the least of a view, as a person types them."""
    typed = {name: ",".join(value) if isinstance(value, tuple) else value for name, value in LEAST.get(key, {}).items()}
    return [part for name, value in typed.items() for part in (f"--{dashed(name)}", value)]


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("cli") / "picture.png"
    Image.fromarray(picture(160, 200)).save(path)
    return str(path)


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "240")


def run(*arguments, language="en"):
    return CliRunner().invoke(build_app(language), [str(argument) for argument in arguments])


# ---------------------------------------------------------------------------------------------- lists and help


def test_the_questions_read_from_the_source_are_those_of_the_registry():
    assert dict(questions()) == {dashed(key): view.question for key, view in VIEWS.items()}
    compared = {dashed(key): record.question for key, record in vx.comparisons().items()}
    assert dict(questions("comparisons", "COMPARISON")) == compared


@pytest.mark.parametrize("language", ["en", "zh"])
def test_help_lists_every_view_with_its_question(language):
    output = run("--help", language=language).stdout
    for key, view in VIEWS.items():
        assert dashed(key) in output
        assert view.question.in_(language) in output


def test_help_waits_for_no_large_library():
    code = (
        "import sys; from vitexplorer.cli import main; sys.argv[1:] = ['--help']\n"
        "try: main()\n"
        "finally: assert not {'torch', 'timm', 'plotly', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "attention-map" in done.stdout


@pytest.mark.parametrize("key", VIEWS)
def test_the_help_of_a_view_has_an_option_for_each_control(key):
    done = run(key, "--help")
    assert done.exit_code == 0, done.output
    assert all(f"--{dashed(control.name)}" in done.stdout for control in VIEWS[key].controls)
    assert VIEWS[key].misleads.en.split()[0] in done.stdout


def test_models_are_listed_with_their_names():
    for language in ("en", "zh"):
        lines = run("models", language=language).stdout.splitlines()
        assert [line.split()[0] for line in lines] == [entry.name for entry in vx.models()]


def test_views_are_listed_with_their_options():
    lines = run("views").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [dashed(key) for key in VIEWS]
    assert next(line for line in lines if line.startswith("attention-map")).split()[1:4] == [
        "--block",
        "--head",
        "--query",
    ]


# ---------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("attention", "attention-map"),
        ("rollout", "attention-rollout"),
        ("attention_rollout", "attention-rollout"),
        ("attention-r", "attention-rollout"),
        ("mod", "models"),
    ],
)
def test_a_name_may_be_short(given, meant):
    assert full_name(given, ["models", "attention-map", "attention-rollout"]) == meant


@pytest.mark.parametrize("given", ["attention-", "atention_map", "x"])
def test_a_name_that_means_nothing_or_too_much_is_refused(given):
    with pytest.raises(UnknownNameError, match="attention-map"):
        full_name(given, ["models", "attention-map", "attention-rollout"])


# ---------------------------------------------------------------------------------------------- views


@pytest.mark.parametrize("key", OF_TEXTS)
def test_a_view_of_texts_reads_them(key, image, tmp_path):
    save_clip(tmp_path / "clip")
    out, texts = tmp_path / "result.json", ("--text", "a red gear") if key == "text_map" else ("--texts", "gear; a cat")
    done = run(key, image, "--model", tmp_path / "clip", *texts, "--out", out)
    assert done.exit_code == 0, done.output
    document = json.loads(out.read_text(encoding="utf-8"))
    written = json.dumps(document["settings"])
    assert all(text in written for text in texts[1].split("; "))
    done = run(key, image, *SMALL, *texts, "--out", out)
    assert done.exit_code == 2
    assert "reads no texts" in done.output


@pytest.mark.parametrize("key", [key for key in VIEWS if key not in OF_TEXTS])
def test_every_view_writes_its_numbers(key, image, tmp_path):
    out = tmp_path / "result.json"
    for model in (SMALL, *OTHERS):
        done = run(key, image, *model, *NEEDED.get(key, []), *least(key), "--out", out)
        if done.exit_code == 0:
            break
        assert done.exit_code == 2, done.output  # a view may refuse a model, in a sentence
    assert done.exit_code == 0, done.stderr
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["view"] == key
    assert document["provenance"]["weights"] == model[3]
    assert set(document["settings"]) >= {control.name for control in VIEWS[key].controls} - {"sharpen"}


def test_options_reach_the_view(image, tmp_path):
    out = tmp_path / "map.csv"
    options = ["--block", "4", "--head", "1", "--query", "3,4", "--fit", "squash", "--size", "96x128"]
    assert run("attention", image, *SMALL, *options, "--out", out).exit_code == 0
    capture = vx.capture(vx.load_model("test_vit", weights="random", seed=3), image, fit="squash", size=(96, 128))
    expected = vx.compute("attention_map", capture, block=4, head=1, query=(3, 4)).values
    with out.open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    written = np.array([float(row["value"]) for row in rows]).reshape(expected.shape)
    np.testing.assert_allclose(written, expected, rtol=1e-6)


def test_compute_is_the_command_of_the_view_with_its_picture_as_an_option(image, tmp_path):
    ways = [("attention-map", image, "--out"), ("compute", "attention_map", "--image", image, "-o")]
    written = [tmp_path / f"{number}.json" for number, _ in enumerate(ways)]
    for way, out in zip(ways, written, strict=True):
        assert run(*way, out, *SMALL, "--block", "1").exit_code == 0
    assert written[0].read_bytes() == written[1].read_bytes()


def test_a_bundled_model_says_of_a_picture_that_it_may_not_know_it(image):
    assert "only on drawn scenes" in run("attention-map", image, "--model", "scenes_vit_patch16_192").stdout


@pytest.mark.parametrize(
    ("language", "title", "warning", "read"),
    [
        ("en", "Attention map", "RANDOM weights", "The attention of the class token is nearly even"),
        ("zh", "注意力图", "随机权重", "类别标记的注意力几乎均匀"),
    ],
)
def test_without_a_file_the_numbers_are_printed_and_say_what_they_are(image, language, title, warning, read):
    done = run("attention-map", image, *SMALL, "--language", language)
    lines = done.stdout.splitlines()
    assert lines[0] == title
    assert warning in done.stdout
    assert lines[-2] == ""
    assert lines[-1].startswith(read)
    rows = lines[lines.index("") + 1 : -2]
    grid = vx.load_model("test_vit", weights="random").blocks((160, 160))[-1].grid
    assert grid.rows <= FITS
    assert [len(row.split()) for row in rows] == [1 + grid.cols] * grid.rows
    assert sum(float(cell) for row in rows for cell in row.split()[1:]) < 1


def test_columns_stand_below_each_other_in_chinese_too():
    assert table([("块", "1"), ("head", "22")]) == "块    1\nhead  22"


@pytest.mark.parametrize("is_hidden", [False, True])
def test_the_bar_counts_all_work_and_times_only_its_own(is_hidden, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: not is_hidden, raising=False)
    with ProgressBar(leave=False) as bar:
        assert bool(bar.disable) == is_hidden
        for done in (3, 5):  # three were there before
            bar.report(done, 10)
        assert (bar.n, bar.total) == (5, 10)
        assert bar.initial == 3


@pytest.mark.skipif(not (ASSETS / "examples").is_dir(), reason="no examples yet")
def test_without_an_image_an_example_is_used():
    assert run("patch-grid", *SMALL).exit_code == 0


def test_a_weight_file_brings_its_model(image, tmp_path):
    weights, out = saved(made("vit"), tmp_path), tmp_path / "result.json"
    assert run("attention-map", image, "--weights", weights, "--out", out).exit_code == 0
    expected = vx.compute("attention_map", vx.capture(vx.load_model(weights=weights), image))
    assert json.loads(out.read_text(encoding="utf-8")) == json.loads(as_json(expected))
    assert run("attention-map", image, "--model", weights, "--out", tmp_path / "named.json").exit_code == 0
    assert (tmp_path / "named.json").read_bytes() == out.read_bytes()


# ---------------------------------------------------------------------------------------------- two sides


def sides(image, **other):
    """Return the captures of `SMALL` and of `other` on the right."""
    small = vx.load_model("test_vit", weights="random", seed=3)
    right = vx.load_model(other.get("model", "test_vit"), weights="random", seed=other.get("seed", 3))
    return vx.capture(small, image), vx.capture(right, other.get("image", image), size=other.get("size"))


@pytest.mark.parametrize(
    ("key", "options", "other", "settings"),
    [
        always("maps", ["--other-size", "96", "--query", "mean"], {"size": 96}, {"query": "mean"}),
        always("cka", ["--other-model", "test_vit4"], {"model": "test_vit4"}, {}),
        later("relevance", ["--other-weights-seed", "1", "--target", "2"], {"seed": 1}, {"target": 2}),
        later("shared_pca", ["--block", "1"], {}, {"block": 1}),
        later("answers", ["--other-weights-seed", "1"], {"seed": 1}, {}),
        later("network", ["--other-model", "test_vit4", "--links", "2"], {"model": "test_vit4"}, {"links": 2}),
        later("costs", ["--other-model", "test_vit4"], {"model": "test_vit4"}, {}),
    ],
)
def test_a_comparison_is_that_of_two_captures(key, options, other, settings, image, tmp_path):
    out = tmp_path / "result.json"
    assert run("compare", dashed(key), image, *SMALL, *options, "--out", out).exit_code == 0
    expected = vx.compare(key, *sides(image, **other), **settings)
    assert json.loads(out.read_text(encoding="utf-8")) == json.loads(as_json(expected))


@pytest.mark.thorough
def test_more_pictures_are_named_by_their_files(image, tmp_path):
    out, third = tmp_path / "result.json", tmp_path / "third.png"
    Image.fromarray(picture(160, 160, 1)).save(third)
    assert run("compare", "shared-pca", image, *SMALL, "--images", third, "--out", out).exit_code == 0
    left, right = sides(image)
    expected = vx.compare("shared_pca", left, right, images=[vx.capture(left.model, third)])
    assert json.loads(out.read_text(encoding="utf-8"))["values"] == expected.values.tolist()


def test_changes_are_named_for_each_side(image, tmp_path):
    out, changes = tmp_path / "result.json", ["--change", "top_k:k=2", "--other-change", "positions:how=off"]
    assert run("compare", "maps", image, *SMALL, *changes, "--out", out).exit_code == 0
    plain, _ = sides(image)
    expected = vx.compare("maps", vx.intervene(plain, changes[1]), vx.intervene(plain, changes[3]))
    assert json.loads(out.read_text(encoding="utf-8")) == json.loads(as_json(expected))


def test_what_the_right_side_leaves_out_is_as_on_the_left(image):
    left = Run(Path(image), "test_vit", "w.pth", 3, "pad", "96", "top_k:k=2")
    nothing = dict.fromkeys(field.name for field in fields(Run))
    assert beside(left, nothing) == replace(left, change=None)
    assert beside(left, {**nothing, "model": "test_vit4"}) == replace(
        left, model="test_vit4", weights="auto", size=None, change=None
    )
    assert beside(left, {**nothing, "size": "own"}).size is None


@pytest.mark.thorough
def test_a_model_stands_beside_its_tuned_one(image, tmp_path):
    file, out = tmp_path / "tuned.safetensors", tmp_path / "result.json"
    left, _ = sides(image)
    vx.save_tuned(vx.attach(left.model, "lora", num_classes=3, r=2), file)
    assert run("compare", "costs", image, *SMALL, "--other-weights", file, "--out", out).exit_code == 0
    expected = vx.compare("costs", left, vx.capture(vx.load_tuned(file), image))
    assert json.loads(out.read_text(encoding="utf-8"))["values"] == expected.values.tolist()
    wrong = run("compare", "costs", image, *SMALL, "--other-model", "test_vit4", "--other-weights", file)
    assert (wrong.exit_code, wrong.stderr.count("\n")) == (2, 1)
    assert "was tuned from test_vit, not from test_vit4" in wrong.stderr


def test_a_comparison_is_printed_with_what_is_read_off_it(image):
    done = run("compar", "ans", image, *SMALL, "--other-weights-seed", "1", "--language", "zh")
    expected = vx.compare("answers", *sides(image, seed=1))
    lines = done.stdout.splitlines()
    assert lines[0] == expected.title.zh
    assert lines[-1] == compared(expected, "zh")
    assert any(line.startswith(expected.entries[0].zh) for line in lines)
    assert run("compare", "cka", image, *SMALL, "--other-image", "missing.png").exit_code == 2


# ---------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["atention-map"], "Did you mean"),
        (["attention-map", "missing.png", *SMALL], "missing.png"),
        (["attention-map", __file__, *SMALL], "test_cli.py"),
        (["attention-map", "IMAGE", *SMALL, "--image", "other.png"], "--image other.png are two"),
        (["compute", "atention-map"], "Did you mean"),
        (["attention-map", "IMAGE", *SMALL, "--block", "99"], "block 99"),
        (["attention-map", "IMAGE", *SMALL, "--head", "most"], "most"),
        (["attention-map", "IMAGE", *SMALL, "--query", "3"], "3"),
        (["attention-map", "IMAGE", *SMALL, "--query", "dist"], "distillation"),
        (["attention-map", "IMAGE", "--model", "tset_vit"], "test_vit"),
        (["attention-map", "IMAGE", "--model", "resnet18", "--weights", "random"], "resnet18"),
        (["attention-map", "IMAGE", "--model", "test_vit", "--weights", "bundled"], "bundled"),
        (["attention-map", "IMAGE", "--model", "test_vit", "--weights", "missing.safetensors"], "missing.safetensors"),
        (["attention-map", "IMAGE", "--model", "test_vit", "--weights", "pretrained"], "test_vit"),
        (["attention-map", "IMAGE", *SMALL, "--out", "map.jpg"], ".png"),
        (["attention-map", "IMAGE", *SMALL, "--out", "missing/map.csv"], "missing"),
    ],
)
def test_what_a_person_can_mend_is_one_line(arguments, message, image, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    done = run(*(image if argument == "IMAGE" else argument for argument in arguments))
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


@pytest.mark.parametrize("option", [["--fit", "crip"], ["--language", "fr"], ["--nope", "1"], ["--weights-seed", "x"]])
def test_a_wrong_option_is_refused_before_any_work(option, image, monkeypatch):
    monkeypatch.setattr(vx, "load_model", None, raising=False)
    done = run("attention-map", image, *option)
    assert done.exit_code == 2
    assert option[0] in done.stderr


def test_a_sentence_comes_in_the_language_of_the_result(image):
    done = run("attention-map", image, *SMALL, "--block", "99", "--language", "zh")
    with pytest.raises(SettingError) as raised:
        vx.compute("attention_map", vx.capture(vx.load_model("test_vit", weights="random"), image), block=99)
    assert done.stderr == raised.value.text.zh + "\n"


def test_a_defect_of_ours_is_not_made_a_sentence(image, monkeypatch):
    def broken(*arguments, **settings):
        raise ValueError("shapes do not match")

    monkeypatch.setattr(vx, "compute", broken, raising=False)
    done = run("attention-map", image, *SMALL)
    assert isinstance(done.exception, ValueError)
    assert not isinstance(done.exception, SystemExit)


def test_a_wrong_setting_stops_the_start_with_a_line():
    done = subprocess.run(
        [sys.executable, "-m", "vitexplorer", "models"],
        env={"VIT_PORT": "http", "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("VIT_PORT=http")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_check_up_has_an_exit_status_for_each_verdict(language, tmp_path):
    healthy = run("diagnose", "scenes_vit_patch16_192", language=language)
    assert healthy.exit_code == 0, healthy.output
    assert {"en": "Checking: weights", "zh": "正在检查：权重"}[language] in healthy.stderr
    model = vx.load_model("scenes_vit_patch16_192")
    state = {name: tensor.clone() for name, tensor in model.module.state_dict().items()}
    state["pos_embed"][:] = 0
    save_file(state, tmp_path / "model.safetensors")
    found = run("diagnose", tmp_path / "model.safetensors", "--json", language=language)
    assert found.exit_code == 1, found.output
    assert [finding["cause"] for finding in json.loads(found.stdout)["findings"]] == ["positions_missing"]
    UPDATES.write(tmp_path, Updates((), (Update(0, {"blocks.0.norm1.weight": (1.0, 1.0)}),)))
    trained = run("diagnose", "scenes_vit_patch16_192", "--training", tmp_path, "--json", language=language)
    assert [finding["cause"] for finding in json.loads(trained.stdout)["findings"]] == ["rate_too_high"]
    assert run("diagnose", "scenes_vit_patch", language=language).exit_code == 2
    for name in ("a.png", "b.png"):
        Image.fromarray(picture(160, 200)).save(tmp_path / name)
    alone = run("diagnose", "--data", tmp_path, "--json", language=language)
    assert [finding["cause"] for finding in json.loads(alone.stdout)["findings"]] == ["duplicates"]
