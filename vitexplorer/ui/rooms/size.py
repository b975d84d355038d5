"""The Size & cost room: the parameters of the model on the screen, and a calculator for any ViT.

The calculator shows each count exactly, the rough formula of lecture notes with what it leaves out, and the cost.
"""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.components.base import Component

from vitexplorer.formulas import ViTShape, differences, total, vit_rough, vit_terms
from vitexplorer.part_names import part_text
from vitexplorer.ui.address import Address
from vitexplorer.ui.calculator import CountTable, parts_table, terms_table
from vitexplorer.ui.calculator.literature import DECLARED, HUGE, LARGE, SMALL, TINY, counted
from vitexplorer.ui.calculator.multiplications import WINDOW, as_counted, vit_macs, windowed_attention
from vitexplorer.ui.calculator.units import MACS, compact
from vitexplorer.ui.desk import QUICK, Updates
from vitexplorer.ui.engine import Explored
from vitexplorer.ui.rooms.room import Room, about
from vitexplorer.ui.rooms.room_figures import RoomFigures
from vitexplorer.ui.words import UI_WORDS
from vitexplorer.words import Language, Text

PRESETS = {
    "ViT-Ti/16": TINY,
    "ViT-S/16": SMALL,
    "ViT-B/32": ViTShape(patch_size=32),
    "ViT-B/16": ViTShape(),
    "ViT-L/16": LARGE,
    "ViT-H/14": HUGE,
}


class SizeRoom(Room):
    """How many parameters, and where?"""

    key = "size"

    def build(self) -> list[Component]:
        """The model's table and its formula, then the sliders with theirs."""
        t = self.desk.t
        self.words = gr.Markdown(elem_classes=["vx-note", "vx-about"])
        with gr.Row(elem_classes=["vx-row"]):
            with gr.Column(scale=2, min_width=300):
                self.parts = CountTable()
            with gr.Column(scale=3, min_width=300):
                self.formula = CountTable()
        with gr.Accordion(t("python_lines"), open=False):
            self.code = gr.Code(language="python", show_label=False, interactive=False)
        self.panel = RoomFigures(self.desk, self.key)
        self.panel.build()
        gr.Markdown(t("calculator_info"), elem_classes=["vx-note"])
        preset = gr.Radio(list(PRESETS), value="ViT-B/16", label=t("preset"))
        start = PRESETS["ViT-B/16"]
        with gr.Row(elem_classes=["vx-row"]):
            sliders = [
                gr.Slider(32, 1024, start.image_size[0], step=1, label=t("image_size"), min_width=210),
                gr.Slider(2, 64, start.patch_size, step=1, label=t("patch_size"), min_width=210),
                gr.Slider(32, 2048, start.dim, step=16, label=t("embed_dim"), min_width=210),
                gr.Slider(1, 48, start.depth, step=1, label=t("depth"), min_width=210),
                gr.Slider(1, 32, start.num_heads, step=1, label=t("num_heads"), min_width=210),
                gr.Slider(1, 8, start.hidden / start.dim, step=0.5, label=t("mlp_ratio"), min_width=210),
                gr.Slider(0, 22000, start.classes, step=1, label=t("num_classes"), min_width=210),
            ]
        self.designed = designed = [CountTable()]
        with gr.Row(elem_classes=["vx-row"]):
            for _ in ("rough formula", "what it leaves out"):
                with gr.Column(min_width=300):
                    designed.append(CountTable())
        designed.append(CountTable())
        designed.append(gr.Markdown(elem_classes=["vx-note"]))
        for slider in sliders:
            slider.input(count_design, [*sliders, self.desk.language], designed, trigger_mode="always_last", **QUICK)
        chosen = preset.input(choose_preset, preset, sliders, **QUICK)
        chosen.then(count_design, [*sliders, self.desk.language], designed, **QUICK)
        self.declared = gr.Markdown(elem_classes=["vx-note"])
        return [self.words, self.parts, self.formula, self.code, *designed, self.declared]

    def fill(self, explored: Explored, address: Address, language: Language) -> Updates:
        """Counts of the model on the screen; the calculator starts at ViT-B/16."""
        from vitexplorer.views import compute

        counted = compute("parameters", explored.capture)
        title = UI_WORDS["size_of_model"].format(model=self.desk.engine.places.title_of(address.model))
        names = [part_text(part).in_(language) for part in counted.parts]
        exact = UI_WORDS["formula_equals"] if counted.terms else UI_WORDS["formula_none"]
        return {
            self.words: about("parameters", language),
            self.parts: parts_table(names, counted.values.tolist(), language, title=title),
            self.formula: terms_table(counted.terms, language, title=UI_WORDS["formula"], note=exact),
            self.code: self.desk.python_lines(address, "parameters"),
            **dict(zip(self.designed, design_tables(ViTShape(), language), strict=True)),
            self.declared: declared_table(language),
        }


def choose_preset(name: str) -> list[float]:
    """The sliders of a model of the literature."""
    shape = PRESETS[name]
    ratio = shape.hidden / shape.dim
    return [shape.image_size[0], shape.patch_size, shape.dim, shape.depth, shape.num_heads, ratio, shape.classes]


def count_design(
    image: float, patch: float, dim: float, depth: float, heads: float, ratio: float, classes: float, language: Language
) -> list[Any]:
    """The tables of the ViT that the sliders describe."""
    shape = ViTShape(
        image_size=(int(image), int(image)),
        patch_size=int(patch),
        dim=int(dim),
        depth=int(depth),
        num_heads=int(heads),
        hidden=int(ratio * dim),
        classes=int(classes),
    )
    return design_tables(shape, language)


def design_tables(shape: ViTShape, language: Language) -> list[Any]:
    """Exact parameters, the rough formula, what it leaves out, multiply-accumulates, and how tools count those."""
    exact, rough, macs = vit_terms(shape), vit_rough(shape), vit_macs(shape)
    difference = differences(exact, rough)
    left_out = UI_WORDS["left_out_note"].format(
        exact=f"{total(exact):,}", rough=f"{total(rough):,}", difference=f"{total(difference):,}"
    )
    windows = UI_WORDS["windows_note"].format(window=WINDOW, macs=compact(windowed_attention(shape), MACS))
    return [
        terms_table(exact, language, title=UI_WORDS["calculator"], note=design_note(shape)),
        terms_table(rough, language, title=UI_WORDS["rough"], note=UI_WORDS["rough_note"]),
        terms_table(difference, language, title=UI_WORDS["left_out"], note=left_out),
        terms_table(macs, language, title=UI_WORDS["macs_of_design"], unit=MACS, note=windows),
        tools_table(shape, language),
    ]


def tools_table(shape: ViTShape, language: Language) -> str:
    """Why tools print different numbers for one model, as Markdown."""
    rows = [f"| {what.in_(language)} | {compact(count, MACS)} |" for what, count in as_counted(shape)]
    return "\n".join([f"| {UI_WORDS['tools'].in_(language)} | MACs |", "|---|---:|", *rows])


def declared_table(language: Language) -> str:
    """Sizes that papers declare beside the exact ones, as Markdown."""
    heads = [UI_WORDS[key].in_(language) for key in ("model", "declared", "counted")]
    rows = [f"| {name} | {millions} M | {counted(shape):,} |" for name, millions, shape in DECLARED]
    return "\n".join([f"| {' | '.join(heads)} |", "|---|---:|---:|", *rows])


def design_note(shape: ViTShape) -> Text:
    """What a person should know of this shape: no whole number of patches, or heads that do not divide the width."""
    if shape.num_patches == 0:
        return UI_WORDS["no_patches"]
    if shape.image_size[0] % shape.patch_size:
        return UI_WORDS["cut_patches"].format(left=shape.image_size[0] % shape.patch_size)
    if shape.dim % shape.num_heads:
        return UI_WORDS["heads_uneven"].format(heads=shape.num_heads, dim=shape.dim)
    return UI_WORDS["heads_note"]
