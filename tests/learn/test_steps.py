"""The guided path: numbers of each step equal its view's, its state exists on the page, its end is noticed."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import string
from contextlib import ExitStack
from copy import deepcopy
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from typer.testing import CliRunner

import vitexplorer as vx
from tests.helpers.learn_screens import of_model, on_screen
from tests.helpers.thorough import quick
from vitexplorer.capturing.capture import Capture
from vitexplorer.cli import build_app
from vitexplorer.core.format import percent
from vitexplorer.core.text import Language, Text
from vitexplorer.figures.files import SaveError
from vitexplorer.figures.rendering import printed
from vitexplorer.learn import STEPS, Numbers, Seen, Step
from vitexplorer.learn.handout import ANSWERS, PRINT, TALLEST, handout_of, picture_of, save_handout
from vitexplorer.models.examples import examples
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH
from vitexplorer.ui.page import ROOMS
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.guide.guide import filled, guide_data, step_named, step_text
from vitexplorer.views import VIEWS

BY_KEY = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.key)


def texts_of(step: Step) -> list[Text]:
    return [step.title, step.says, step.formula, step.asks, *step.choices, step.reveal, step.action]


def named(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


# ---------------------------------------------------------------------------------------------- every step


def test_steps_have_distinct_keys_and_are_found() -> None:
    assert len({step.key for step in STEPS}) == len(STEPS)
    assert [step_named(step.key) for step in STEPS] == list(STEPS)
    assert step_named("nosuch") is step_named(7) is None


@BY_KEY
def test_a_step_begins_in_a_state_that_the_page_has(step: Step) -> None:
    for state in (step.state, {**step.state, **(step.leads or {})}):
        address = Address.read(state)
        own = {name: value for name, value in state.items() if name != "view" and not name.startswith("v.")}
        assert {name: getattr(address, name) for name in own} == own
        assert address.room in {room.key for room in ROOMS}
        if "view" in state:
            assert VIEWS[state["view"]].room == state["room"]


@BY_KEY
def test_a_step_is_filled_in_both_languages(step: Step) -> None:
    numbers = step.numbers(on_screen(step))
    used = set.union(*(named(half) for text in texts_of(step) for half in text))
    used |= {name for pattern in step.becomes.values() for name in re.findall(r"\{([a-z_]+)\}", pattern)}
    assert used == set(numbers)
    for language in ("en", "zh"):
        words = filled(step, numbers, language)
        assert 0 <= words.right < len(words.choices) >= 2
        assert "{" not in "".join([words.says, words.formula, words.reveal, words.action, *words.becomes.values()])


@BY_KEY
def test_what_is_to_be_done_is_not_done_yet(step: Step) -> None:
    text = step_text(step, on_screen(step), "en")
    own = {**step.state, **(step.leads or {})}
    assert not all(re.fullmatch(pattern, own.get(name, "")) for name, pattern in text.becomes.items())


def test_a_model_without_what_a_step_needs_is_refused_with_a_sentence() -> None:
    def refuse(name: str, **settings: object):
        return vx.compute("logit_lens", seen.capture)

    seen = Seen(on_screen(STEPS[0]).capture, refuse, lambda changes: seen.capture, lambda model: seen)
    assert "no classifier" in step_text(STEPS[0], seen, "en").refused


@BY_KEY
@pytest.mark.parametrize("model", ["scenes_mae_patch16_192", "scenes_swin_patch4_window6_192", "test_vit"])
def test_a_step_on_another_model_is_filled_or_refused_with_a_sentence(step: Step, model: str) -> None:
    """Another model may be on the screen: without a classifier, without a class token, or with two heads."""
    text = step_text(step, of_model(model), "zh")
    assert text.refused.endswith("。") or text.says


def test_the_path_travels_with_its_words() -> None:
    data = guide_data("zh")
    assert [item.key for item in data.steps] == [step.key for step in STEPS]
    assert data.words["learn_next"] == "下一步"


# ---------------------------------------------------------------------------------------------- their numbers


def filled_step(key: str) -> tuple[Step, Numbers, Capture]:
    """Return a step with its numbers and the capture on its screen."""
    step = step_named(key)
    return step, step.numbers(on_screen(step)), on_screen(step).capture


def attention_of(capture: Capture) -> list[np.ndarray]:
    """Return the attention (heads, queries, keys) of every block in double precision."""
    return [call.weights()[0].double().numpy() for (call,) in capture.calls]


def test_numbers_of_the_cut() -> None:
    _, numbers, capture = filled_step("cut")
    module, pixels = capture.model.module, capture.input.pixels
    (height, width), side = pixels.shape[:2], module.patch_embed.patch_size[0]
    assert (numbers["height"], numbers["width"], numbers["side"]) == (height, width, side)
    assert numbers["tokens"] == module.pos_embed.shape[1]
    assert numbers["patches"] == (height // side) * (width // side) == numbers["rows"] * numbers["cols"]
    twice = vx.capture(capture.model, pixels, size=2 * height)
    assert numbers["more"] == len(vx.compute("patch_grid", twice).values)
    assert numbers["pairs"] == capture.attention(0)[0].numel()
    assert numbers["more_pairs"] == twice.attention(0)[0].numel()


def test_numbers_of_the_heads() -> None:
    step, numbers, capture = filled_step("heads")
    grid = capture.grid(0)
    places = np.stack(np.divmod(np.arange(grid.num_patches), grid.cols), -1) * grid.patch_size
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    far = np.array([(block[:, 1:, 1:] * apart).sum(-1).mean(-1) for block in attention_of(capture)])
    near_at, far_at = np.unravel_index(far.argmin(), far.shape), np.unravel_index(far.argmax(), far.shape)
    assert (numbers["near_block"], numbers["near_head"]) == near_at
    assert (numbers["far_block"], numbers["far_head"]) == far_at
    assert (numbers["blocks"], numbers["heads"], numbers["all"]) == (*far.shape, far.size)
    np.testing.assert_allclose(
        [numbers[name] for name in ("near", "far", "first", "last")],
        [far[near_at], far[far_at], far[0].mean(), far[-1].mean()],
        rtol=1e-5,
    )
    assert step.right(numbers) == int(far[-1].mean() > far[0].mean())


def test_numbers_of_the_class_token() -> None:
    step, numbers, capture = filled_step("class_token")
    module, pixels = capture.model.module, capture.input.tensor
    with torch.no_grad():
        tokens = module.forward_features(pixels)
        by_class, by_mean = (module.head(one).softmax(-1)[0] for one in (tokens[:, 0], tokens[:, 1:].mean(1)))
    best, mean_best = int(by_class.argmax()), int(by_mean.argmax())
    assert (numbers["name"], numbers["mean_name"]) == tuple(capture.model.class_texts[i] for i in (best, mean_best))
    np.testing.assert_allclose(
        [numbers["share"], numbers["mean_share"]], [by_class[best], by_mean[mean_best]], rtol=1e-4
    )
    relevance = vx.compute("generic_relevance", capture, target=best).values.ravel()
    order, side = relevance.argsort(), capture.grid(0).patch_size
    assert numbers["patches"] == len(order) == 4 * numbers["hidden"]
    for name, chosen in (("without_most", order[-numbers["hidden"] :]), ("without_least", order[: numbers["hidden"]])):
        hidden = pixels.clone()
        for patch in chosen:
            row, col = divmod(int(patch), capture.grid(0).cols)
            at = np.s_[..., row * side : (row + 1) * side, col * side : (col + 1) * side]
            mean = torch.tensor(capture.model.preprocessing.mean)
            colour = torch.round(255 * mean) / 255
            hidden[at] = ((colour - mean) / torch.tensor(capture.model.preprocessing.std))[:, None, None]
        with torch.no_grad():
            assert numbers[name] == pytest.approx(float(module(hidden).softmax(-1)[0, best]), abs=1e-5)
    assert step.right(numbers) == int(numbers["without_most"] * 2 < numbers["share"])


def test_numbers_of_the_residual_stream() -> None:
    step, numbers, capture = filled_step("residual")
    module, added = capture.model.module, {}
    with ExitStack() as hooks:
        for number, block in enumerate(module.blocks):
            for name in ("attn", "mlp"):
                layer = getattr(block, name)
                keep = partial(added.__setitem__, (number, name))
                hooks.enter_context(layer.register_forward_hook(lambda _, __, out, keep=keep: keep(out[0, 0])))
        with torch.no_grad():
            stream = module.forward_intermediates(capture.input.tensor, norm=False, intermediates_only=True)
            logits = module(capture.input.tensor)[0]
    assert stream
    best = int(logits.argmax())
    last = capture.residual_after(capture.depth - 1)[0]
    scale = module.norm.weight / (last.var(unbiased=False) + module.norm.eps).sqrt()
    row = module.head.weight[best]

    def share(part: torch.Tensor) -> float:
        return float(((part - part.mean()) * scale.detach()) @ row.detach())

    both = {name: sum(share(out) for (_, kind), out in added.items() if kind == name) for name in ("attn", "mlp")}
    np.testing.assert_allclose([numbers["attention"], numbers["mlp"]], [both["attn"], both["mlp"]], atol=1e-4)
    assert numbers["logit"] == pytest.approx(float(logits[best]), abs=1e-4)
    parts = [numbers[name] for name in ("embedding", "attention", "mlp", "constant")]
    assert sum(parts) == pytest.approx(numbers["logit"], abs=1e-6)
    (block, kind), most = max(((at, share(out)) for at, out in added.items()), key=lambda one: one[1])
    assert (numbers["most_block"], numbers["most"]) == (block, pytest.approx(most, abs=1e-4))
    assert ("MLP" in numbers["most_part"].en) == (kind == "mlp")
    assert step.right(numbers) == int(both["mlp"] > both["attn"])


def test_numbers_of_the_stack() -> None:
    step, numbers, capture = filled_step("stack")
    module = capture.model.module
    with torch.no_grad():
        streams = module.forward_intermediates(
            capture.input.tensor, return_prefix_tokens=True, norm=False, intermediates_only=True
        )
        after = [module.head(module.norm(prefix))[0, 0].softmax(-1) for _, prefix in streams]
    best = [int(one.argmax()) for one in after]
    decided = max((i for i in range(len(best)) if best[i] != best[-1]), default=-1) + 1
    assert (numbers["decided"], numbers["blocks"]) == (decided, len(best))
    assert step.right(numbers) == 3 * decided // len(best)
    assert (numbers["name"], numbers["first_name"]) == tuple(capture.model.class_texts[best[i]] for i in (-1, 0))
    np.testing.assert_allclose(
        [numbers[name] for name in ("first_share", "decided_share", "share")],
        [float(after[i][best[i]]) for i in (0, decided, -1)],
        rtol=1e-4,
    )


def test_numbers_of_the_windows() -> None:
    _, numbers, capture = filled_step("swin")
    stages = capture.model.module.layers
    first, second = stages[0].blocks[:2]
    assert (numbers["side"], numbers["shift"]) == (first.window_size[0], second.shift_size[0])
    patches = np.prod(capture.model.module.patch_embed.grid_size)
    pixels = capture.model.module.patch_embed.patch_size[0]
    assert (numbers["patches"], numbers["pixels"], numbers["rows"] ** 2) == (patches, pixels, patches)
    assert numbers["windowed"] == capture.attention(0)[:, 0].numel() == patches * numbers["window"]
    assert numbers["all"] == patches**2
    assert numbers["last_pixels"] == pixels * 2 ** (len(stages) - 1)
    assert numbers["last_rows"] * numbers["last_pixels"] == numbers["rows"] * pixels


def test_numbers_of_the_embedding() -> None:
    step, numbers, capture = filled_step("embed")
    module, side = capture.model.module, numbers["side"]
    at = (
        slice(numbers["row"] * side, (numbers["row"] + 1) * side),
        slice(numbers["col"] * side, (numbers["col"] + 1) * side),
    )
    patch = capture.input.tensor[0][:, *at].detach().double().numpy()
    matrix = module.patch_embed.proj.weight.detach().double().numpy()
    made = np.einsum("dchw,chw->d", matrix, patch) + module.patch_embed.proj.bias.detach().double().numpy()
    read = capture.residual(0)[capture.token((numbers["row"], numbers["col"]), 0)].double().numpy()
    assert (numbers["pixels"], numbers["dim"], numbers["weights"]) == (patch.size, len(read), matrix.size)
    lengths = [np.linalg.norm(made), np.linalg.norm(read - made)]
    np.testing.assert_allclose([numbers["content"], numbers["place"]], lengths, rtol=1e-4)
    assert step.right(numbers) == (0 if len(read) < patch.size else 1 if len(read) == patch.size else 2)


def test_numbers_of_query_and_key() -> None:
    step, numbers, capture = filled_step("query_key")
    (call,) = capture.calls[int(step.state["v.block"])]
    head = int(step.state["v.head"])
    query, keys = call.query[0, head, 0].double().numpy(), call.key[0, head].double().numpy()
    scores = np.array([sum(q * k for q, k in zip(query, key, strict=True)) for key in keys])
    weights, plain = (np.exp(s - s.max()) / np.exp(s - s.max()).sum() for s in (scores / len(query) ** 0.5, scores))
    top = weights.argmax()
    assert (numbers["keys"], numbers["head_dim"], numbers["even"]) == (len(keys), len(query), 1 / len(keys))
    np.testing.assert_allclose(
        [numbers[name] for name in ("score", "scaled", "weight", "sum", "plain")],
        [scores[top], scores[top] / len(query) ** 0.5, weights[top], 1, plain[top]],
        rtol=1e-4,
    )
    assert step.right(numbers) == (2 if plain[top] > 0.5 else int(plain[top] >= weights[top]))


@torch.no_grad()
def test_numbers_of_the_positions() -> None:
    step, numbers, capture = filled_step("position")
    module, grid = deepcopy(capture.model.module), capture.grid(0)
    places = module.pos_embed[0, 1:].double().numpy()
    unit = places / np.linalg.norm(places, axis=1, keepdims=True)
    assert numbers["patches"] == len(places)
    np.testing.assert_allclose(
        [numbers["beside"], numbers["corners"]], [unit[0] @ unit[1], unit[0] @ unit[-1]], rtol=1e-4
    )
    order, side = np.random.default_rng(0).permutation(grid.num_patches), grid.patch_size
    tiles = capture.input.tensor.unfold(2, side, side).unfold(3, side, side).flatten(2, 3)[:, :, order]
    puzzle = F.fold(tiles.permute(0, 1, 3, 4, 2).flatten(1, 3), (grid.rows * side, grid.cols * side), side, stride=side)
    answers = [module(pixels).double().softmax(-1)[0] for pixels in (capture.input.tensor, puzzle)]
    module.pos_embed.zero_()
    answers += [module(pixels).double().softmax(-1)[0] for pixels in (capture.input.tensor, puzzle)]
    first = answers[0].argmax()
    expected = [*(float(answer[first]) for answer in answers), float(answers[1].max())]
    np.testing.assert_allclose(
        [numbers[name] for name in ("plain", "shuffled", "off", "both", "rival")], expected, rtol=1e-3
    )
    assert step.right(numbers) == (2 if answers[1].argmax() != first else int(expected[1] < 0.9 * expected[0]))


def test_numbers_without_labels() -> None:
    step, numbers, capture = filled_step("without_labels")

    def gathered(capture: Capture) -> tuple[int, int]:
        weights = sorted(attention_of(capture)[-1][:, 0, 1:].mean(0), reverse=True)
        half, held = 0, 0.0
        while held < sum(weights) / 2:
            held += weights[half]
            half += 1
        return half, len(weights)

    half, patches = gathered(capture)
    other_half, others = gathered(of_model("scenes_vit_patch16_192").capture)
    share = half / patches
    assert (numbers["half"], numbers["patches"], numbers["model"]) == (half, patches, step.state["model"])
    assert (numbers["share"], numbers["hidden"]) == (share, patches * 3 // 4)
    assert (numbers["other_half"], numbers["other_patches"]) == (other_half, others)
    assert numbers["other_share"] == other_half / others
    assert step.numbers(of_model("scenes_vit_patch16_192"))["other"] == step.state["model"]
    assert step.right(numbers) == (2 if share > 0.25 else 1 if share >= 0.1 else 0)


def test_numbers_of_the_words() -> None:
    """By hand: cosines of the module's output with each sentence's vector, scaled as in training, then a softmax."""
    step, numbers, capture = filled_step("words")
    tower = capture.model.text
    with torch.inference_mode():
        image = capture.model.module(capture.input.tensor)[0].double()
    articles = {name: "an" if name == "arrow" else "a" for name in LABEL_NAMES}
    measures = {"star": "颗", "heart": "颗", "flower": "朵", "fish": "条", "arrow": "支"}
    sentences = (
        [f"{articles[name]} {name}" for name in LABEL_NAMES],
        [f"一{measures.get(en, '个')}{zh}" for en, zh in zip(LABEL_NAMES, LABEL_NAMES_ZH, strict=True)],
    )
    for at, texts in enumerate(sentences):
        cosines = [float(torch.from_numpy(tower.embed([text])[0]).double() @ image / image.norm()) for text in texts]
        exps = np.exp(tower.logits(np.array(cosines)))
        order = np.argsort(exps)
        assert (numbers["best"][at], numbers["worst"][at]) == (texts[order[-1]], texts[order[0]])
        shares = [percent(exps[order[end]] / exps.sum()) for end in (-1, 0)]
        assert [numbers["best_share"][at], numbers["worst_share"][at]] == shares
    assert numbers["count"] == 12
    assert step.right(numbers) == 2


def test_numbers_of_the_decoder() -> None:
    step, numbers, capture = filled_step("decoder")
    A = attention_of(capture)[int(step.state["v.block"])][int(step.state["v.head"])]
    tokens, first = len(A), 1
    assert (numbers["tokens"], numbers["before"]) == (tokens, tokens - 1)
    assert (numbers["pairs"], numbers["first"]) == (A.size, first + 1)
    assert numbers["zeros"] == sum(range(tokens))
    assert numbers["share"] == numbers["zeros"] / A.size
    own = A[first, first] / (A[first, 0] + A[first, first])
    np.testing.assert_allclose(
        [numbers["later"], numbers["own"], numbers["sum"]], [A[first, 2:].sum(), own, 1], rtol=1e-5
    )
    assert step.right(numbers) == 0


def test_numbers_of_what_is_trained() -> None:
    step, numbers, capture = filled_step("petl")
    module = capture.model.module
    depth, dim = len(module.blocks), module.embed_dim
    bottleneck = torch.nn.Sequential(torch.nn.Linear(dim, 64), torch.nn.Linear(64, dim))
    assert (numbers["depth"], numbers["dim"]) == (depth, dim)
    assert numbers["lora"] == depth * 2 * 2 * torch.zeros(8, dim).numel()
    assert numbers["adapter"] == depth * sum(part.numel() for part in bottleneck.parameters())
    assert numbers["vpt"] == depth * torch.zeros(10, dim).numel()
    assert numbers["total"] == sum(part.numel() for name, part in module.named_parameters() if "head" not in name)
    counts = [numbers["lora"], numbers["adapter"], numbers["vpt"]]
    np.testing.assert_allclose(
        [numbers["least"], numbers["most"]], [min(counts) / numbers["total"], max(counts) / numbers["total"]]
    )
    assert counts[step.right(numbers)] == max(counts)


# ---------------------------------------------------------------------------------------------- on paper


@pytest.mark.parametrize("language", quick(["en", "zh"], keep=["zh"]))
def test_the_handout_has_the_numbers_and_the_figures_of_each_step(language: Language, thorough: bool) -> None:
    path = STEPS if thorough else (step_named("class_token"), step_named("decoder"))
    page = handout_of(on_screen, language, path)
    asked, answered = html.unescape(page).split(f"<h2>{ANSWERS.in_(language)}</h2>")
    figures = figures_of(page)
    assert len(figures) == len(path)
    for number, step in enumerate(path, 1):
        text = step_text(step, on_screen(step), language)
        assert f"{number} · {step.title.in_(language)}" in asked
        for part in (text.says, text.asks, *text.choices, text.action):
            assert part in asked
        assert text.reveal not in asked
        assert text.reveal in answered
        assert text.formula in answered
        assert "ABC"[text.right] in answered.split(step.title.in_(language))[1][:3]
        view, settings = picture_of(step)
        figure, _ = printed(vx.compute(view, on_screen(step).capture, **settings), language=language)
        assert figures[f"figure-{number}"] == json.loads(figure.to_json())
    assert set(re.findall(r"zoom: ([\d.]+)", page)) == {"1.000"}  # nothing is made smaller to fit its sheet
    assert PRINT.in_(language) in re.search(r'<button[^>]* onclick="print\(\)">(.*?)</button>', page)[1]
    assert len(page.encode()) < 5_000_000
    assert not re.search(r"(src|href)=\"(?!data:)", page)


@pytest.mark.parametrize("key", ["embed", "query_key", "petl"])
def test_the_longest_pictures_fit_their_sheets(key: str) -> None:
    step = step_named(key)
    view, settings = picture_of(step)
    figure, _ = printed(on_screen(step).compute(view, **settings), language="en")
    assert figure.layout.height <= TALLEST


def figures_of(page: str) -> dict[str, dict]:
    """Return the figures that a page unpacks, by the element they are drawn into."""
    packed = re.search(r"JSON\.parse\(await unpacked\('([^']+)'", page)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_a_handout_is_a_page_or_a_pdf(tmp_path: Path) -> None:
    with pytest.raises(SaveError, match=r"must end in one of \.html, \.pdf"):
        save_handout(examples()["scene_gear"].path, tmp_path / "handout.docx")
    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
def test_the_command_writes_a_page_and_prints_it(tmp_path: Path) -> None:
    noise = tmp_path / "noise.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (400, 500, 3), np.uint8)).save(noise)  # nothing is larger
    for name in ("handout.html", "handout.pdf"):
        given = ["learn", "--image", str(noise), "--out", str(tmp_path / name), "--language", "zh"]
        assert CliRunner().invoke(build_app("en"), given).exit_code == 0
    assert (tmp_path / "handout.html").stat().st_size < 5_000_000
    pdf = (tmp_path / "handout.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1 + len(STEPS) + 2  # a sheet each; the answers take two
