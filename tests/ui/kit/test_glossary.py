"""Glossary: complete in both languages, one sentence a term, served as a module of its own."""

from __future__ import annotations

import json
import re

import pytest

from tests.helpers.every_case import check_every
from vitexplorer.ui.kit.glossary import GLOSSARY, Entry, of_language
from vitexplorer.ui.server.static_files import static_files

CHINESE = re.compile("[\u4e00-\u9fff]")


def check_entry(entry: Entry) -> None:
    assert entry.en
    assert entry.zh
    assert re.fullmatch(r"[A-Z][^.]*\.", entry.says.en.replace("RoPE.", ""))
    assert re.fullmatch("[^。]*[\u4e00-\u9fff][^。]*。", entry.says.zh)
    assert not CHINESE.search(entry.formula + entry.says.en)
    assert max(len(entry.says.en) - 40, 2 * len(entry.says.zh)) < 160


def test_an_entry_is_one_sentence_in_each_language() -> None:
    check_every({entry.en[0]: entry for entry in GLOSSARY}, check_entry)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_spelling_stands_for_two_terms(language) -> None:
    spellings = [word.lower() for entry in GLOSSARY for word in entry.spellings(language)]
    assert len(spellings) == len(set(spellings))
    plural = {word + ending for word in spellings for ending in ("s", "es")}
    assert not plural & set(spellings) - {"logits", "macs"}, "the page finds these by itself"


def test_a_sentence_does_not_begin_with_the_term_that_it_explains() -> None:
    for entry in GLOSSARY:
        assert not entry.says.en.lower().startswith(entry.en[0].lower() + " is")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_fetches_one_language(language) -> None:
    module = static_files()[f"kit/glossary_{language}.js"].decode()
    assert json.loads(re.fullmatch(r"export const entries = (.*);\n", module)[1]) == json.loads(
        json.dumps(of_language(language))
    )
    assert len(module.encode()) < 25_000
