"""Texts of both languages: each has its other half, every key is used, and every used key exists."""

from __future__ import annotations

import ast
import json
import re
import string
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import vitexplorer
from tests.helpers.expected_refusals import is_refused
from tests.helpers.least_settings import cheaply
from tests.helpers.small_models import capture_small
from vitexplorer import comparisons, interventions, views
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import Text, normalise_language
from vitexplorer.figures.caption import caption
from vitexplorer.finetune.methods import METHODS
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.service.teaching.words import TEACH_WORDS
from vitexplorer.ui.canvas.words import CANVAS_WORDS
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.network.words import NETWORK_WORDS

PACKAGE = Path(vitexplorer.__file__).parent
CHINESE = re.compile("[\u4e00-\u9fff]")


@cache
def literal_texts() -> tuple[tuple[str, str, str], ...]:
    """Yield every Text(...) of two literals in the package: place, English, Chinese."""
    return tuple(_literal_texts())


def _literal_texts() -> Iterator[tuple[str, str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Text" and len(node.args) == 2:
                pair = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
                if len(pair) == 2:
                    yield f"{path.relative_to(PACKAGE)}:{node.lineno}", *pair


def fields(template: str) -> set[str]:
    """Return the names that a template fills in; `most_zh` is `most` as Chinese counts it."""
    return {name.removesuffix("_zh") for _, name, _, _ in string.Formatter().parse(template) if name}


def says_nothing(template: str) -> bool:
    """Return whether a template has no word outside of its fields."""
    return not re.search(r"\w", re.sub(r"\{.*?\}", "", template))


def is_no_sentence(template: str) -> bool:
    """Return whether a text is a name, a symbol or a field, written alike in both languages."""
    return not re.search(r"\b[a-z]+ [a-z]+\b", re.sub(r"\{.*?\}", "", template))


def test_every_text_has_both_languages() -> None:
    texts = literal_texts()
    assert len(texts) > 150
    alike = [en == zh and is_no_sentence(en) for _, en, zh in texts]
    assert [
        place
        for (place, en, zh), same in zip(texts, alike, strict=True)
        if not (same or says_nothing(en) or CHINESE.search(zh) or en == "中文")
    ] == []
    assert [place for place, en, _ in texts if CHINESE.search(en) and en != "中文"] == []


def test_both_languages_fill_in_the_same() -> None:
    assert [place for place, en, zh in literal_texts() if fields(en) != fields(zh)] == []


def test_chinese_has_chinese_punctuation() -> None:
    half = re.compile(r"[\u4e00-\u9fff”）][,:;?!(]|[,:;?!)][\u4e00-\u9fff]")
    assert [place for place, _, zh in literal_texts() if half.search(zh)] == []


HAN = "\u4e00-\u9fff"
NUMBER = r"\{\w+(?:\[\d\])?:[^}]*\}"  # a field that says how a number is written
MISTAKES = {
    "a number, a word in Latin letters or a sign of per cent against Chinese": re.compile(
        rf"[{HAN}](?:{NUMBER}|[A-Za-z0-9])|(?:{NUMBER}|[A-Za-z0-9%])[{HAN}]"
    ),
    "a bracket of half width around a word": re.compile(rf"[{HAN}] ?\((?!\d)|(?<![\w.(]\()\) ?[{HAN}]"),
    "a sentence that ends in half width": re.compile(rf"[{HAN}）][,.;:!?](?![{HAN}*])|[A-Za-z)}}]\?$"),
}
CODE = re.compile(r"\w+\([^()]*\)|\[0, 1\)|“[^”]*”")
"""Code, written as it is typed"""


def mistakes(chinese: str) -> list[str]:
    """Return the mistakes of a Chinese text in spaces and punctuation."""
    text = CODE.sub("，", chinese)
    return [name for name, pattern in MISTAKES.items() if pattern.search(text)]


@pytest.mark.parametrize(
    ("chinese", "count"),
    [
        ("概率{share:.3f}", 1),
        ("概率0.959", 1),
        ("概率 0.959，占 3 %。", 0),
        ("乘加 (MACs)", 1),
        ("乘加（MACs）", 0),
        ("多少 logit?", 1),
        ("请用 load_model(1) 加载。", 0),
    ],
)
def test_mistakes_of_setting_are_found(chinese: str, count: int) -> None:
    assert len(mistakes(chinese)) == count


TYPED = re.compile(
    r"\{[^}]*\}|\"[^\"]*\"|`[^`]*`|--\w+|https?:\S+|(?:\w+/)?\w*[_=]\w[\w=.,:-]*|[\w.]+\([^()]*\)|<[^>]*>|"
    r"\bdata:image\S+|/picture\b|\bconfig\.json|\bworker\.log|\bhead\.weight|\brows/|\blabels=|\b384x512\b|\.(?:csv|tsv|parquet|txt|zip|safetensors|html|pdf|png|svg)\b"
)
"""Fields and code: settings, addresses, endings of file names"""
NAMES = (
    "Transformer|CNN|ViT|DeiT|DINO(v3)?|CLIP|CoCa|SigLIP|NaFlex|BEiT|EVA|MAE|Swin|V2|Reich|MLP|CLS|LayerScale|ViT-B|outlook|halo|lambda|"
    "LoRA|SSF|BitFit|AdaptFormer|adapter|Houlsby|Pfeiffer|VPT-(deep|shallow)|Grad-CAM|LeGrad|(Attn)?LRP|LibraGrad|PCA|RMSE?|F1|MACs?|"
    "CKA|ROAD|SaCo|GMACs|L2|UMAP|umap-learn|McNemar|MaskCLIP|(Sur|S|Clear|NA|Proxy|Grad-E)CLIP|Surgery|GEM|ECLIP|"
    "Ray|timm|peft|transformers|torchvision|open|clip|OpenAI|TorchScript|(Quick)?GELU|PIL|kaleido|anywidget|Chrome|Chromium|Python|Photoshop|Windows|Git|LFS|Hugging|Face|Hub|ImageNet|English|norm-pix"
)
"""Names of models, methods, people and programs"""
FORMATS = (
    "AVIF|BMP|BigTIFF|TIFF|GIF|HEIC|MP4|JPEG|XL|PNG|SVG|PDF|WebP|HTML|XML|JSON|https|json|CSV|zip|Deflate|UTF-8|SHA-256|NaN|RGB|"
    "uint8|float32|MB|GB|Enter|Esc|Escape|Home|Page(Up|Down)"
)
"""Names of file and number formats, units, and keys of a keyboard"""
SIGNS = r"[a-zA-Z]|CD|DM|KD|ln|softmax|sigmoid|[Ll]ogits?|argmax"
"""Letters of formulas, and terms without a Chinese name"""
IN_BRACKETS = "buffer|generic|relevance|gradient|rollout|nat|native|own|patches|mean|token|kind"
"""English words that Chinese lectures add to the Chinese word"""
SETTINGS = (
    "IMAGE|all|auto|base|other|bce|blocks|bundled|change|cls|col|dist|fit|height|width|install|lora|mcp|mean|methods|model|mse|off|on|pad|pip|"
    "keep|pass|heads|sizes|light|dark|pretrained|random|reg1|rotary|row|runs|scale|seed|true|false|weights|accumulate|torch.save|vx.intervene|name|VIT"
)
"""Parameters of scripts and commands, in sentences that name them"""
LATIN = re.compile("|".join((NAMES, FORMATS, SIGNS)))


def latin_words(chinese: str) -> list[str]:
    """Return words in Latin letters that a Chinese text should not hold."""
    beside = re.sub(rf"（(?:{IN_BRACKETS}| )+）", "", chinese)
    words = re.findall(r"[A-Za-z][A-Za-z0-9-]*(?:\.[a-z]+)?", TYPED.sub("，", beside))
    return [word for word in words if not LATIN.fullmatch(word)]


@pytest.mark.parametrize(
    ("chinese", "words"),
    [
        ("注意力的 head 3", ["head"]),
        ("注意力展开（rollout）", []),
        ("rollout 的均值", ["rollout"]),
        ("每个 ViT 的 softmax", []),
        ("请用 load_model(weights=1) 加载 {model} 的 layer。", ["layer"]),
    ],
)
def test_words_in_latin_letters_are_found(chinese: str, words: list[str]) -> None:
    assert latin_words(chinese) == words


def test_no_word_of_the_chinese_page_is_left_in_latin_letters() -> None:
    """Names of settings occur in sentences for scripts and commands, never in words of the page."""
    settings = re.compile(SETTINGS)
    left = [(place, words) for place, _, zh in literal_texts() if (words := latin_words(zh))]
    assert [result for result in left if result[0].startswith("ui/") and not result[0].startswith("ui/server")] == []
    assert [(place, word) for place, words in left for word in words if not settings.fullmatch(word)] == []


def test_sources_are_cited_in_chinese() -> None:
    papers = [
        record.paper for record in (*views().values(), *interventions().values(), *METHODS.values()) if record.paper
    ]
    sources = {paper.in_("zh") for paper in papers}
    assert {"Dosovitskiy 等 2021，图 7", "Jia 等 2022，第 4.1 节", "Liu 等 2021，式（1）、（2）"} <= sources
    assert {"He 等 2021，附录 A.1", "Vaswani 等 2017，表 1", "Dosovitskiy 等 2021，式（1）"} <= sources
    usual = re.compile(
        r"[A-Z][A-Za-z ]+(?: & [A-Z][a-z]+| 等)? \d{4}(?:，(?:图 \d+|表 \d+|第 [\d.]+ 节|附录 [A-Z.\d]+|式.+))?"
    )
    assert [source for source in sources if not usual.fullmatch(source)] == []
    assert [paper for paper in papers if paper.in_("en") != paper.citation] == []


def test_chinese_is_set_as_chinese() -> None:
    assert [(place, result) for place, _, zh in literal_texts() if (result := mistakes(zh))] == []


def test_chinese_with_its_numbers_filled_in_is_set_as_chinese() -> None:
    """Yield captions with their fields filled in."""
    seen = capture_small("vit")
    captions = {key: caption(cheaply(key, seen)).zh for key in views() if not is_refused(key, "vit")}
    assert len(captions) > 20
    assert {key: (result, words) for key, words in captions.items() if (result := mistakes(words))} == {}


def sources(folder: Path) -> str:
    """Return all files in a folder of the page that may name a word, except the tables of words."""
    files = (
        path
        for path in folder.rglob("*")
        if path.suffix in (".py", ".js", ".html") and not path.name.endswith("words.py")
    )
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def attributes(source: str) -> set[str]:
    """Return the words that scripts use: `words.hint`, `text.hint`, `words().hint`; other attributes are no words."""
    return set(re.findall(r"\b(?:words|text)(?:\(\))?\??\.(\w+)\b", source))


def words_of_rooms() -> Iterator[tuple[dict[str, Text], str]]:
    """Yield every table of a room's `words.py`, with the room's folder."""
    for path in sorted((PACKAGE / "ui" / "rooms").glob("*/words.py")):
        result = vars(import_module(f"vitexplorer.ui.rooms.{path.parent.name}.words"))
        tables = {name: value for name, value in result.items() if name.endswith("_WORDS") and value is not UI_WORDS}
        yield from ((table, f"rooms/{path.parent.name}") for table in tables.values())


TABLES_OF_WORDS = [
    (UI_WORDS, ""),
    (CANVAS_WORDS, "canvas"),
    (NETWORK_WORDS, "network"),
    (TEACH_WORDS, "rooms/finetune"),
    (SURVEY_WORDS, "rooms/folder"),
    *words_of_rooms(),
]
"""Tables of words, each with the folder of the page that uses them"""


@pytest.mark.parametrize(("words", "folder"), TABLES_OF_WORDS)
def test_no_word_is_unused(words: dict[str, Text], folder: str) -> None:
    source = sources(PACKAGE / "ui" / folder) + sources(PACKAGE / "service")
    named = set(re.findall(r"""["'`](\w+)["'`]""", source)) | attributes(source)
    named |= set(re.findall(r"\{\{(\w+)\}\}", source))  # in markup
    named |= set(re.findall(r"^  (\w+): \[", source, re.MULTILINE))  # a colour map, offered by its name
    begun = tuple(re.findall(r"""["'`]([a-z_]+_)(?:\$?\{|',)""", source))  # f"room_{key}", named('mode_', MODES)
    ended = tuple(re.findall(r"""\}(_[a-z]+)["'`]""", source))  # `${key}_touch`
    assert [key for key in words if key not in named and not key.startswith(begun) and not key.endswith(ended)] == []


def test_no_word_is_missing() -> None:
    source = sources(PACKAGE / "ui")
    asked = set(re.findall(r"""\b(?:t|word)\(\s*"(\w+)\"""", source)) | set(
        re.findall(r"""UI_WORDS\["(\w+)"\]""", source)
    )
    assert len(asked) > 40
    assert asked - set(UI_WORDS) == set()


def test_scripts_ask_for_no_other_word() -> None:
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "ui").rglob("*.js"))
    records = (*views().values(), *comparisons().values(), *interventions().values())
    controls = [control for record in records for control in record.controls]
    of_controls = {word for control in controls for word in control.spec().words}
    known = set().union(*(words for words, _ in TABLES_OF_WORDS), of_controls)
    asked = set(re.findall(r"\bwords(?:\(\))?\??\.(\w+)\b", scripts)) - {"length"}
    assert len(asked) > 20
    assert asked - known == set()


@pytest.mark.parametrize(
    ("code", "language"),
    [("zh", "zh"), ("zh-CN", "zh"), ("zh_Hans_CN", "zh"), ("ZH-tw", "zh"), ("en-GB", "en"), ("de", "en"), (None, "en")],
)
def test_languages_of_browsers(code: str | None, language: str) -> None:
    assert normalise_language(code) == language


def test_examples_have_chinese_titles_set_as_chinese() -> None:
    examples = json.loads((ASSETS / "examples" / "examples.json").read_text(encoding="utf-8"))
    assert [one["title_zh"] for one in examples if re.search(r"[(),:]", one["title_zh"])] == []
