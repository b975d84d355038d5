"""Theme of the page: gradio's default with enough contrast for a projector."""

from __future__ import annotations

import gradio as gr

_FONTS = [
    "Inter",
    "system-ui",
    "Segoe UI",
    "Roboto",
    "Helvetica Neue",
    "Noto Sans SC",
    "Noto Sans CJK SC",
    "PingFang SC",
    "Microsoft YaHei",
    "sans-serif",
]


def theme() -> gr.themes.Default:
    """Return the theme; all fonts are local, so that nothing is fetched."""
    return gr.themes.Default(primary_hue="indigo", neutral_hue="slate", font=_FONTS).set(
        color_accent="*primary_600",
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_300",
        block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_300",
        block_label_text_color="*neutral_700",
        block_label_text_color_dark="*neutral_200",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        button_primary_background_fill_dark="*primary_600",
        input_placeholder_color="*neutral_500",
    )
