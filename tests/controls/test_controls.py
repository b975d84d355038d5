"""Controls of every view, intervention and method: one spec to draw, one notation to read back.

Links that stand in slides and scripts keep opening, whichever notation of patches they were written in.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.every_case import check_every
from tests.helpers.invented_texts import reading_texts
from tests.helpers.small_models import capture_small
from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Control, PatchesControl, sharpest_patch, specs, written_value
from vitexplorer.controls.patches import Others
from vitexplorer.core.text import SettingError, UnsupportedError, same
from vitexplorer.core.types import PatchGrid
from vitexplorer.interventions import settled, write_changes
from vitexplorer.ui.controls.field import field_of
from vitexplorer.ui.server.static_files import static_files
from vitexplorer.ui.shell.address import Address

OF_CAPTURES = {
    f"{key}.{control.name}": (record.controls, control)
    for registry in (vx.views(), vx.interventions())
    for key, record in registry.items()
    for control in record.controls
}
OF_METHODS = {f"{key}.{control.name}": control for key, record in vx.methods().items() for control in record.controls}
CAPTURES = ("vit", "swin")


def settings_before(controls: tuple[Control, ...], control: Control, captured) -> dict:
    """Defaults of the controls before one."""
    settings: dict = {}
    for one in controls[: controls.index(control)]:
        settings[one.name] = one.parse(one.default_after(captured, settings), captured, settings)
    return settings


# ------------------------------------------------------------------------------------------------ all of them


def check_notation(captured: Capture, controls: tuple[Control, ...], control: Control) -> None:
    before = settings_before(controls, control, captured)
    usual = control.parse(control.default_after(captured, before), captured, before)
    assert control.parse(usual, captured, before) == usual
    assert control.parse(written_value(usual), captured, before) == usual
    spec = control.spec(captured, {**before, control.name: usual})
    assert spec.value == written_value(usual)
    is_complete(spec)
    if spec.options and spec.kind != "several":
        assert spec.value in dict(spec.options)
        for value, _ in spec.options:
            assert written_value(control.parse(value, captured, before)) == value
    if spec.low is not None:
        for bound in (spec.low, spec.high):
            assert control.parse(written_value(float(bound)), captured, before) == pytest.approx(bound)


@pytest.mark.parametrize("model", CAPTURES)
def test_a_control_is_drawn_and_reads_what_it_writes(model):
    captured = reading_texts(capture_small(model))
    check_every(OF_CAPTURES, lambda case: check_notation(captured, *case))


def test_a_control_of_a_method_needs_no_capture():
    def check(control: Control) -> None:
        spec = control.spec()
        is_complete(spec)
        usual = control.parse(control.default(None), None, {})
        assert spec.value == written_value(usual)
        assert control.parse(spec.value, None, {}) == usual
        assert spec.options or (spec.low <= usual <= spec.high and spec.step)

    check_every(OF_METHODS, check)


def is_complete(spec) -> None:
    """Check both languages, a module that draws the control and has its words, and that all goes into JSON."""
    for text in (spec.label, *(label for _, label in spec.options), *spec.words.values(), *filter(None, [spec.takes])):
        assert text.en
        assert text.zh
    assert sum(map(bool, (spec.options, spec.low is not None, spec.board, spec.more, spec.kind == "text"))) >= 1
    assert (spec.low is None) == (spec.high is None) == (spec.step is None)
    drawn_by = static_files()[f"controls/{spec.kind}.js"].decode()
    assert "export function draw(" in drawn_by
    optional = {"bare", "full", "release"}  # where others choose the patches
    assert set(re.findall(r"\bwords\.(\w+)", drawn_by)) - optional <= set(spec.words)
    for language in ("en", "zh"):
        json.dumps(field_of(spec, language).model_dump())


def test_without_a_capture_only_what_every_model_has_is_known():
    def check(case: tuple[tuple[Control, ...], Control]) -> None:
        _, control = case
        spec, known = control.spec(), control.spec(capture_small("vit"))
        assert (spec.kind, spec.name, spec.label, spec.takes) == (known.kind, known.name, known.label, known.takes)
        assert not control.of_capture or (spec.value, spec.options, spec.board) == ("", (), None)

    check_every(OF_CAPTURES, check)


@pytest.mark.parametrize("value", [0.1 + 0.2, 1e-05, 2.0, np.float64(0.25), 7, True, "cls"])
def test_a_number_is_written_in_full(value):
    written = written_value(value)
    assert str(value) == written or float(written) == value
    assert not written.endswith(".0")


def test_what_a_control_cannot_take_stays_as_it_was_written():
    captured, controls = capture_small("vit"), vx.views()["attention_map"].controls
    block, head, query, _ = specs(controls, captured, {"block": "99", "head": "no", "query": "3,1"})
    assert (block.value, head.value, query.value) == ("99", "no", "3,1")
    assert dict(head.options)["no"] == same("no")
    assert query.board.rows == captured.grid(captured.depth - 1).rows


# ------------------------------------------------------------------------------------------------ patches


HIDDEN = PatchesControl()
MASK = PatchesControl("mask", same("Hidden"), Others(("seed",), same("by the seed"), same("Let go")))
BOARD = np.zeros((4, 4), bool)
BOARD[1, 2] = BOARD[0, 3] = True


@pytest.mark.parametrize("control", [HIDDEN, MASK], ids=["hidden", "mask"])
@pytest.mark.parametrize(
    "given",
    ["1.2+0.3", "3,6", "6, 3,", "3,1.2", [(1, 2), (0, 3)], ((0, 3), (1, 2)), {(1, 2), (0, 3)}, [3, 6], BOARD],
    ids=str,
)
def test_either_control_reads_patches_in_every_notation(control, given):
    assert control.parse(given, capture_small("vit"), {}) == ((0, 3), (1, 2))
    assert control.parse(BOARD.tolist(), capture_small("vit"), {}) == ((0, 3), (1, 2))


@pytest.mark.parametrize("given", ["16", "-1", "1.2.3", "a", [0.5], None, BOARD[:3], [[1, 2], [3]], np.inf], ids=repr)
def test_what_names_no_patches_is_refused_in_the_words_of_either(given):
    captured = capture_small("vit")
    with pytest.raises(SettingError, match=r"A patch is row\.col, such as 3\.4, not "):
        HIDDEN.parse(given, captured, {})
    with pytest.raises(SettingError, match="mask takes numbers of patches from 0 to 15, or 4 x 4 true or false, not "):
        MASK.parse(given, captured, {})


@pytest.mark.usefixtures("unchecked")  # a stand-in for a capture
def test_pairs_stay_pairs_where_the_grid_is_two_by_two():
    captured = SimpleNamespace(depth=1, grid=lambda block: PatchGrid(2, 2, 16))
    assert HIDDEN.parse(((0, 1), (1, 0)), captured, {}) == ((0, 1), (1, 0))
    assert HIDDEN.parse([[1, 0], [0, 1]], captured, {}) == ((0, 0), (1, 1))  # a board
    assert HIDDEN.parse("0.1+1.0", captured, {}) == HIDDEN.parse("1,2", captured, {}) == ((0, 1), (1, 0))


def test_beyond_the_grid_or_all_of_it():
    captured = capture_small("vit")
    with pytest.raises(SettingError, match=r"There is no patch \(4, 0\): the grid has rows 0 to 3"):
        MASK.parse("4.0", captured, {})
    assert len(HIDDEN.parse(range(16), captured, {})) == 16
    with pytest.raises(SettingError, match="At least one patch must stay visible"):
        MASK.parse(list(range(16)), captured, {})


# ------------------------------------------------------------------------------------------------ old links


OLD_ADDRESSES = {
    "mask_patches:patches=1.1+1.2,how=paint": "mask_patches:patches=1.1+1.2,how=paint",
    "heads_off:heads=2.*": "heads_off:heads=2.0+2.1+2.2,how=zero",
    "temperature:temperature=2.0": "temperature:temperature=2",
    "shift_image:down=4;shuffle_patches:seed=3": "shift_image:right=8,down=4,fill=wrap;shuffle_patches:seed=3",
    "mask_patches:patches=": "mask_patches:patches=,how=paint",
    "positions:how=off;top_k:k=8": "positions:how=off,seed=0;top_k:k=8",
}


@pytest.mark.parametrize(("old", "now"), OLD_ADDRESSES.items(), ids=OLD_ADDRESSES)
def test_links_of_before_open(old, now):
    address = Address.read({"room": "what_if", "change": old})
    assert address.change == old
    changes = settled(capture_small("vit"), address.change)
    assert write_changes(changes) == now
    assert settled(capture_small("vit"), now) == changes
    assert Address.read({"change": now}).change == now  # what is written now is an address as well


@pytest.mark.parametrize("query", ["cls", "mean", "2,3"])
def test_queries_of_before_open(query):
    address = Address.read({"query": query, "block": "1", "head": "2"})
    given = {"query": address.query, "block": address.block, "head": address.head}
    drawn = specs(vx.views()["attention_map"].controls, capture_small("vit"), given)
    assert [spec.value for spec in drawn] == ["1", "2", query, "1"]


def test_a_control_that_is_not_ours_is_drawn_by_its_own_file(monkeypatch):
    """A new kind is one file here and one in `ui/controls/`; no other file names it."""

    class Dial(Control):
        kind, of_capture = "dial", False

        def default(self, capture):
            return 30

        def parse(self, value, capture, settings):
            if not 0 <= int(value) < 360:
                raise SettingError(same("0 to 359"))
            return int(value)

        def spec(self, capture=None, settings=None, result=None):
            return replace(super().spec(capture, settings, result), more={"full": 360})

    (drawn,) = specs((Dial("angle", same("Angle")),), capture_small("vit"), {"angle": "90"})
    field = field_of(drawn, "zh")
    assert (field.kind, field.value, field.more) == ("dial", "90", {"full": 360})


def test_a_mask_of_before_is_the_same_picture():
    """Numbers stay numbers in what is saved and in the lines of Python, however the mask was given."""
    record = vx.views()["mae_reconstruction"]
    captured = capture_small("vit")
    with pytest.raises(UnsupportedError):
        vx.compute("mae_reconstruction", captured, mask="0,1")
    assert record.settings(captured, {"mask": "1,6"})["mask"] == record.settings(captured, {"mask": "0.1+1.2"})["mask"]


def test_the_first_patch_is_the_one_with_the_sharpest_edges():
    picture = np.full((50, 64, 3), 120, np.uint8)  # four rows of 16 pixels, the last of which reach beyond the image
    grid = PatchGrid(4, 4, 16)
    assert sharpest_patch(picture, grid) == (0, 0)  # all alike: the first
    picture[20:24, 40:44] = 200  # a faint edge in (1, 2), a sharp one in (2, 1)
    picture[36:40, 20:24] = 255
    assert sharpest_patch(picture, grid) == (2, 1)
    picture[48:] = np.arange(64)[:, None] % 2 * 255
    assert sharpest_patch(picture, PatchGrid(2, 4, 16)) == (1, 2)  # only what the grid covers counts
