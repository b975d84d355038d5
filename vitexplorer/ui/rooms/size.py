"""The Size & cost room: the parameters of the model on the screen, and a calculator for any ViT."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.components.base import Component

from vitexplorer.figures.parts import part_text
from vitexplorer.formulas import ViTShape, vit_terms
from vitexplorer.ui.address import Address
from vitexplorer.ui.calculator import CountTable, parts_table, terms_table
from vitexplorer.ui.calculator.component import CountTableData
from vitexplorer.ui.engine import Explored
from vitexplorer.ui.rooms.panel import RoomPanel
from vitexplorer.ui.rooms.room import QUICK, Room, about, python_lines
from vitexplorer.ui.words import UI_WORDS
from vitexplorer.words import Language, Text

PRESETS = {
    "ViT-Ti/16": ViTShape(dim=192, num_heads=3, hidden=768),
    "ViT-S/16": ViTShape(dim=384, num_heads=6, hidden=1536),
    "ViT-B/32": ViTShape(patch_size=32),
    "ViT-B/16": ViTShape(),
    "ViT-L/16": ViTShape(dim=1024, depth=24, num_heads=16, hidden=4096),
    "ViT-H/14": ViTShape(patch_size=14, dim=1280, depth=32, num_heads=16, hidden=5120),
}


class SizeRoom(Room):
    """How many parameters, and where?"""

    key = "size"

    def build(self) -> list[Component]:
        """The model's table and its formula, then the sliders with theirs."""
        t = self.desk.t
        words = gr.Markdown(elem_classes=["vx-note", "vx-about"])
        with gr.Row(elem_classes=["vx-row"]):
            with gr.Column(scale=2, min_width=300):
                parts = CountTable()
            with gr.Column(scale=3, min_width=300):
                formula = CountTable()
        with gr.Accordion(t("python_lines"), open=False):
            code = gr.Code(language="python", show_label=False, interactive=False)
        self.panel = RoomPanel(self.desk, self.key)
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
        designed = CountTable()
        for slider in sliders:
            slider.input(count_design, [*sliders, self.desk.language], designed, trigger_mode="always_last", **QUICK)
        chosen = preset.input(choose_preset, preset, sliders, **QUICK)
        chosen.then(count_design, [*sliders, self.desk.language], designed, **QUICK)
        return [words, parts, formula, code, designed]

    def fill(self, explored: Explored, address: Address, language: Language) -> list[Any]:
        """Counts of the model on the screen; the calculator starts at ViT-B/16."""
        from vitexplorer.views import compute

        counted = compute("parameters", explored.capture)
        title = UI_WORDS["size_of_model"].format(model=address.model)
        names = [part_text(part).in_(language) for part in counted.parts]
        parts = parts_table(names, counted.values, language, title=title)
        exact = UI_WORDS["formula_equals"] if counted.terms else UI_WORDS["formula_none"]
        formula = terms_table(counted.terms, language, title=UI_WORDS["formula"], note=exact)
        designed = design_table(ViTShape(), language)
        return [about("parameters", language), parts, formula, python_lines(address, "parameters"), designed]


def choose_preset(name: str) -> list[float]:
    """The sliders of a model of the literature."""
    shape = PRESETS[name]
    ratio = shape.hidden / shape.dim
    return [shape.image_size[0], shape.patch_size, shape.dim, shape.depth, shape.num_heads, ratio, shape.classes]


def count_design(
    image: float, patch: float, dim: float, depth: float, heads: float, ratio: float, classes: float, language: Language
) -> CountTableData:
    """The table of the ViT that the sliders describe."""
    shape = ViTShape(
        image_size=(int(image), int(image)),
        patch_size=int(patch),
        dim=int(dim),
        depth=int(depth),
        num_heads=int(heads),
        hidden=int(ratio * dim),
        classes=int(classes),
    )
    return design_table(shape, language)


def design_table(shape: ViTShape, language: Language) -> CountTableData:
    """Every term of the formula for one shape, with what does not fit said under it."""
    return terms_table(vit_terms(shape), language, title=UI_WORDS["calculator"], note=design_note(shape))


def design_note(shape: ViTShape) -> Text:
    """What a person should know of this shape: no whole number of patches, or heads that do not divide the width."""
    if shape.num_patches == 0:
        return UI_WORDS["no_patches"]
    if shape.image_size[0] % shape.patch_size:
        return UI_WORDS["cut_patches"].format(left=shape.image_size[0] % shape.patch_size)
    if shape.dim % shape.num_heads:
        return UI_WORDS["heads_uneven"].format(heads=shape.num_heads, dim=shape.dim)
    return UI_WORDS["heads_note"]
