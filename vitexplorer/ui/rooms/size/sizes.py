"""Data of the size board for the model on the screen, or for a design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vitexplorer.controls import Spec
from vitexplorer.core import format as numbers
from vitexplorer.core.part_names import part_text
from vitexplorer.core.text import Language, in_language, same
from vitexplorer.core.types import CostResult, CountResult, Term
from vitexplorer.quantities.parameter_formulas import SwinShape, ViTShape, differences, exact_terms, rough_terms, total
from vitexplorer.ui.controls.field import Field, field_of
from vitexplorer.ui.rooms.size.designs import SLIDERS, Design, design_note, settings_of
from vitexplorer.ui.rooms.size.literature import PRESETS
from vitexplorer.ui.rooms.size.multiplications import (
    ATTENTION,
    CLASSIFIER,
    MLP,
    PATCHES,
    PROJECTIONS,
    WINDOW,
    vit_macs,
    windowed_attention,
)
from vitexplorer.ui.rooms.size.size_board import CountTableData, SizeData
from vitexplorer.ui.rooms.size.story import is_twelve, reading, story
from vitexplorer.ui.rooms.size.tables import MACS, compact, declared_table, parts_table, terms_table, tools_table
from vitexplorer.ui.rooms.size.words import CALCULATOR_WORDS
from vitexplorer.ui.shell.frame import frame_words

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

_PART_OF_MACS = {PATCHES: "embedding", PROJECTIONS: "attention", ATTENTION: "attention", MLP: "mlp", CLASSIFIER: "head"}


def model_sizes(
    capture: Capture, title: str, parameters: CountResult, cost: CostResult | None, language: Language
) -> SizeData:
    """Return the board's data for the model on the screen; `cost` is None where it is not counted."""
    from vitexplorer.quantities.story import counted, multiplied
    from vitexplorer.views.parameters import shape_of

    module = capture.model.module
    shape = shape_of(module)
    size = capture.input.pixels.shape[:2]
    own = shape if isinstance(shape, ViTShape) else None
    notes = [CALCULATOR_WORDS["formula_equals" if shape else "formula_none"]]
    notes += [CALCULATOR_WORDS["twelve"]] if is_twelve(shape) else []
    notes += [] if cost else [CALCULATOR_WORDS["cost_none"]]
    names = [part_text(part).in_(language) for part in parameters.parts]
    tables = [parts_table(names, parameters.values.tolist(), title, language)]
    sized = replace(own, image_size=size) if own else None
    if shape:
        tables += _formula_tables(shape, language)
    if cost and cost.terms:
        tables.append(_cost_table(cost.terms, sized, language))
    if sized and cost and total(vit_macs(sized)) == cost.total:
        tables.append(tools_table(sized, language))
    data = _sizes(shape, counted(module), multiplied(cost) if cost else None, size, language)
    data.title = title
    data.notes = [note.in_(language) for note in notes]
    data.tables = [*tables, declared_table(language)]
    data.fields = _fields(sized or ViTShape(), "", language)
    return data


def design_sizes(design: Design, own: ViTShape | None, language: Language) -> SizeData:
    """Return the board's data for a design that is not empty; `own` is as in `Design.shape`."""
    shape = design.shape(own)
    macs: Counter[str] = Counter()
    for term in vit_macs(shape):
        macs[_PART_OF_MACS[term.name]] += term.count
    notes = [design_note(shape), *([CALCULATOR_WORDS["twelve"]] if is_twelve(shape) else [])]
    data = _sizes(shape, None, macs, shape.image_size, language)
    data.title = design.preset if not design.moved else CALCULATOR_WORDS["your_design"].in_(language)
    data.notes = [note.in_(language) for note in notes]
    data.design = design.text
    data.tables = [
        *_formula_tables(shape, language),
        _cost_table(vit_macs(shape), shape, language),
        tools_table(shape, language),
        declared_table(language),
    ]
    data.fields = _fields(shape, design.preset, language)
    return data


def _sizes(
    shape: ViTShape | SwinShape | None,
    module: Mapping[str, int] | None,
    macs: Mapping[str, int] | None,
    size: tuple[int, int],
    language: Language,
) -> SizeData:
    """Return the data that a model and a design have in common."""
    rows, sums = story(shape, module, macs, language)
    words = frame_words(language) | in_language(CALCULATOR_WORDS, language)
    return SizeData(rows=rows, total=sums, reading=reading(rows, sums, size, language), words=words)


def _fields(shape: ViTShape, preset: str, language: Language) -> list[Field]:
    """Return the controls of a design: its start and its sizes."""
    presets = (("", CALCULATOR_WORDS["on_screen"]), *((name, same(name)) for name in PRESETS))
    sizes = settings_of(shape)
    specs = [
        Spec("choice", "preset", CALCULATOR_WORDS["preset"], preset, options=presets),
        *(
            Spec("number", name, CALCULATOR_WORDS[name], f"{round(sizes[name], 2):g}", **vars(slider))
            for name, slider in SLIDERS.items()
        ),
    ]
    return [field_of(spec, language) for spec in specs]


def _formula_tables(shape: ViTShape | SwinShape, language: Language) -> list[CountTableData]:
    """Return the tables of the exact formula, the rough formula, and the terms that the rough one leaves out."""
    exact, rough = exact_terms(shape), rough_terms(shape)
    left_out = differences(exact, rough)
    rough_note = CALCULATOR_WORDS["rough_note" if isinstance(shape, ViTShape) else "rough_note_stages"]
    sums = {"exact": total(exact), "rough": total(rough), "difference": total(left_out)}
    left_out_note = CALCULATOR_WORDS["left_out_note"].format(
        **{key: numbers.counted(count) for key, count in sums.items()}
    )
    return [
        terms_table("exact", exact, language),
        terms_table("rough", rough, language, note=rough_note),
        terms_table("left_out", left_out, language, note=left_out_note),
    ]


def _cost_table(terms: Sequence[Term], shape: ViTShape | None, language: Language) -> CountTableData:
    """Return the table of multiply-accumulates by term, for a plain ViT with a note on windowed attention."""
    note = None
    if shape:
        macs = compact(windowed_attention(shape), MACS)
        note = CALCULATOR_WORDS["windows_note"].format(window=WINDOW, macs=macs)
    return terms_table("cost", terms, language, unit=MACS, note=note)
