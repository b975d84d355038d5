"""Gradio is imported without writing stub files; other packages are imported as ever."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path

import gradio as gr
import pytest

from vitexplorer.ui.gradio_adapter.no_stub_files import Finder


def test_packages_in_several_folders_are_imported_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vx_in_folders" / "part").mkdir(parents=True)
    (tmp_path / "vx_in_folders" / "part" / "__init__.py").write_text("ANSWER = 3")
    monkeypatch.syspath_prepend(tmp_path)
    assert Finder in sys.meta_path
    assert import_module("vx_in_folders.part").ANSWER == 3


def test_gradio_is_imported_without_looking_after_its_stubs() -> None:
    assert sys.meta_path.index(Finder) < sys.meta_path.index(PathFinder)
    assert Finder.find_spec("gradio.events", gr.__path__) is None
    spec = Finder.find_spec("gradio.component_meta", gr.__path__)
    ours, theirs = module_from_spec(spec), module_from_spec(spec)
    spec.loader.exec_module(ours)
    SourceFileLoader(spec.name, spec.origin).exec_module(theirs)
    ours.create_or_modify_pyi(gr.HTML, "NotInItsSource", [])
    with pytest.raises(ValueError, match="class source"):
        theirs.create_or_modify_pyi(gr.HTML, "NotInItsSource", [])
