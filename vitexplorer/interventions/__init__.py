"""What if something were different? The same image and model once more, with one thing or several changed.

    changed = vx.intervene(capture, {"positions": {"how": "off"}, "top_k": {"k": 8}})
    changed = vx.intervene(capture, "positions:how=off;top_k:k=8")  # the same, as the URL and `--change` say it
    vx.compute("before_after", changed)

A changed run is a `Capture` like any other, so that every view explains it; its provenance names the changes, and so
does every figure. It takes one forward pass. Interventions: `interventions()`, one file each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from vitexplorer.capturing.capture import Capture, Change, ModelInput, capture_input
from vitexplorer.controls import checked, written_value
from vitexplorer.core.registry import Registry
from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.interventions.changed_pass import ChangedNetwork, Effect, Intervention
from vitexplorer.models.family import with_tokens
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.preprocess import normalise

INTERVENTIONS: Registry[Intervention] = Registry("intervention", __name__, "INTERVENTION")
MOST_BYTES = 2 << 30
"""of scores that a changed run may have to keep, for all blocks together"""

Changes = Mapping[str, Mapping[str, Any]]
"""name of an intervention -> its settings; what is left out takes its default"""


def interventions() -> dict[str, Intervention]:
    """Every intervention by its key in the order in which they act, with its question, controls and paper."""
    return dict(sorted(INTERVENTIONS.items(), key=lambda item: item[1].acts))


def intervene(capture: Capture, changes: Changes | str | Iterable[str]) -> Capture:
    """Run the model of a capture once more on the same image, with something changed.

    Args:
        capture: a plain run.
        changes: name -> settings, or the same as text (`read_changes`), or a list of such texts. None at all gives the
            plain run again, bit for bit.

    Raises:
        UnknownNameError: no such intervention or setting; the message names the nearest.
        SettingError: a value that a control cannot take, or a capture that is changed already.
        UnsupportedError: a change that has no meaning for this model; the message says why.
    """
    if capture.change:
        raise SettingError(
            Text(
                "This run is changed already. Start from the plain one and give all changes at once.",
                "这次运行已经被更改过。请从原始运行开始，一次给出所有更改。",
            )
        )
    wanted = settled(capture, changes)
    effects = tuple(INTERVENTIONS[name].effect(capture, **settings) for name, settings in wanted.items())
    _check_memory(capture, effects)
    change = Change(
        original=capture,
        texts=tuple(INTERVENTIONS[name].says(capture, settings) for name, settings in wanted.items()),
        network=ChangedNetwork(capture.model.module, capture.model.block_of_parameter, effects),
        moved=next((effect.moved for effect in effects if effect.moved), None),
    )
    return capture_input(_changed_model(capture, effects), _changed_input(capture, effects), change)


def settled(capture: Capture, changes: Changes | str | Iterable[str]) -> dict[str, dict[str, Any]]:
    """Changes in the order in which they act, every setting checked and filled in. Raises as `intervene` does."""
    if not isinstance(changes, Mapping):
        changes = read_changes(changes if isinstance(changes, str) else ";".join(changes))
    wanted: dict[str, dict[str, Any]] = {}
    for name in sorted(changes, key=lambda name: INTERVENTIONS[name].acts):
        record = INTERVENTIONS[name]
        reason = record.refuses(capture)
        if reason is not None:
            raise UnsupportedError(reason)
        wanted[name] = checked(record.controls, capture, changes[name])
    return wanted


def _changed_input(capture: Capture, effects: tuple[Effect, ...]) -> ModelInput:
    """The image as the changed run sees it; the very same where no pixel changes."""
    given = capture.input
    pixels = given.pixels
    for effect in effects:
        if effect.pixels:
            pixels = effect.pixels(pixels)
    if pixels is given.pixels:
        return given
    wanted = capture.model.preprocessing
    return replace(given, pixels=pixels, tensor=normalise(pixels, wanted.mean, wanted.std).to(given.tensor.device))


def _changed_model(capture: Capture, effects: tuple[Effect, ...]) -> LoadedModel:
    """The model as the changed run has it; with one more token where there is one, which goes with few other changes.

    Raises SettingError for changes that count on the tokens that there were.
    """
    grown = [effect.registers for effect in effects if effect.registers]
    if not grown:
        return capture.model
    if any(effect.tensors or effect.scores or effect.values or effect.moved for effect in effects):
        raise SettingError(
            Text(
                "A register cannot be added together with changes of attention, of positions or of the patches' order.",
                "添加寄存器标记时，不能同时更改注意力、位置编码或图块顺序。",
            )
        )
    return replace(capture.model, family=with_tokens(capture.model.family, grown[0].name))


def _check_memory(capture: Capture, effects: tuple[Effect, ...]) -> None:
    """Raises UnsupportedError where changed scores, (windows, heads, tokens, tokens) a block, would fill the memory."""
    if not any(effect.scores for effect in effects):
        return
    shapes = [(capture.num_heads(block), capture.positions(block).shape) for block in range(capture.depth)]
    needed = sum(4 * heads * windows * tokens**2 for heads, (windows, tokens) in shapes)
    if needed > MOST_BYTES:
        raise UnsupportedError(
            Text(
                "This change needs all attention scores at once, {needed:.1f} GB for {model} at this size; "
                "{most:.1f} GB are allowed. Choose a smaller image or another fit.",
                "该更改需要一次保存全部注意力分数，{model} 在此尺寸下为 {needed:.1f} GB，上限为 {most:.1f} GB。"
                "请选择更小的图像或其他适配方式。",
            ).format(needed=needed / 1e9, most=MOST_BYTES / 1e9, model=capture.model.name)
        )


# ---------------------------------------------------------------------------------------------- changes as text


def read_changes(text: str) -> dict[str, dict[str, str]]:
    """`positions:how=off;heads_off:heads=5.0+5.2,how=mean` as name -> settings, values still as text.

    Raises SettingError for what is not of this form; names and values are checked when they are used.
    """
    changes: dict[str, dict[str, str]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, _, said = part.partition(":")
        pairs = [pair.partition("=") for pair in said.split(",") if pair]
        if any(not equals for _, equals, _ in pairs):
            raise SettingError(
                Text(
                    "A change is written name:setting=value,setting=value, not {part}.",
                    "更改的写法为 name:setting=value,setting=value，而不是 {part}。",
                ).format(part=part)
            )
        changes[name.strip().replace("-", "_")] = {key.strip(): value.strip() for key, _, value in pairs}
    return changes


def write_changes(changes: Changes) -> str:
    """The text that `read_changes` reads."""
    return ";".join(
        ":".join(filter(None, (name, ",".join(f"{key}={written_value(value)}" for key, value in settings.items()))))
        for name, settings in changes.items()
    )
