"""Changed runs: the same model on the same image again, with one or more changes.

    changed = vx.intervene(capture, {"positions": {"how": "off"}, "top_k": {"k": 8}})
    changed = vx.intervene(capture, "positions:how=off;top_k:k=8")  # the same as text: URL, `--change`
    vx.compute("before_after", changed)

A changed run takes one forward pass. It is an ordinary `Capture`, so every view explains it; its provenance and every
figure name the changes. `interventions()` lists the interventions, one file each.
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
"""Limit for the attention scores that a changed run holds, over all blocks"""

Changes = Mapping[str, Mapping[str, Any]]
"""Name of an intervention -> its settings; missing ones take their defaults"""


def interventions() -> dict[str, Intervention]:
    """Return every intervention by key, in the order in which they act."""
    return dict(sorted(INTERVENTIONS.items(), key=lambda item: item[1].acts))


def intervene(capture: Capture, changes: Changes | str | Iterable[str]) -> Capture:
    """Run a capture's model on the same image again, with changes.

    Args:
        capture: a plain run.
        changes: name -> settings, or the same as text (`read_changes`), or a list of such texts. Without any change
            the result equals the plain run bit for bit.

    Raises:
        UnknownNameError: there is no such intervention or setting; the message suggests the nearest name.
        SettingError: a value is invalid, or the capture is already a changed run.
        UnsupportedError: the change does not apply to this model; the message says why.
    """
    if capture.change:
        raise SettingError(
            Text(
                "This run is already changed. Start from the plain run and give all changes at once.",
                "这次运行已经被更改过。请从原始运行开始，一次给出所有更改。",
            )
        )
    settings_of = settled(capture, changes)
    effects = tuple(INTERVENTIONS[name].effect(capture, **settings) for name, settings in settings_of.items())
    _check_memory(capture, effects)
    change = Change(
        original=capture,
        texts=tuple(INTERVENTIONS[name].says(capture, **settings) for name, settings in settings_of.items()),
        network=ChangedNetwork(capture.model.module, capture.model.block_of_parameter, effects),
        moved=next((effect.moved for effect in effects if effect.moved), None),
    )
    return capture_input(_changed_model(capture, effects), _changed_input(capture, effects), change)


def settled(capture: Capture, changes: Changes | str | Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the changes in the order in which they act, with every setting checked and defaults filled in.

    Raises UnknownNameError, SettingError and UnsupportedError, see `intervene`.
    """
    if not isinstance(changes, Mapping):
        changes = read_changes(changes if isinstance(changes, str) else ";".join(changes))
    settings_of: dict[str, dict[str, Any]] = {}
    for name in sorted(changes, key=lambda name: INTERVENTIONS[name].acts):
        record = INTERVENTIONS[name]
        reason = record.refuses(capture)
        if reason is not None:
            raise UnsupportedError(reason)
        settings_of[name] = checked(record.controls, capture, changes[name])
    return settings_of


def _changed_input(capture: Capture, effects: tuple[Effect, ...]) -> ModelInput:
    """Return the input of the changed run: the same object if no pixel changes."""
    plain = capture.input
    pixels = plain.pixels
    for effect in effects:
        if effect.pixels:
            pixels = effect.pixels(pixels)
    if pixels is plain.pixels:
        return plain
    preprocessing = capture.model.preprocessing
    tensor = normalise(pixels, preprocessing.mean, preprocessing.std).to(plain.tensor.device)
    return replace(plain, pixels=pixels, tensor=tensor)


def _changed_model(capture: Capture, effects: tuple[Effect, ...]) -> LoadedModel:
    """Return the model of the changed run, with one more token if a register is added.

    Raises SettingError if other changes depend on the original tokens.
    """
    registers = [effect.registers for effect in effects if effect.registers]
    if not registers:
        return capture.model
    if any(effect.tensors or effect.scores or effect.values or effect.moved for effect in effects):
        raise SettingError(
            Text(
                "A register cannot be added together with changes of attention, of positions or of the patches' order.",
                "添加寄存器标记时，不能同时更改注意力、位置编码或图块顺序。",
            )
        )
    return replace(capture.model, family=with_tokens(capture.model.family, registers[0].name))


def _check_memory(capture: Capture, effects: tuple[Effect, ...]) -> None:
    """Raise UnsupportedError if the changed scores, (windows, heads, tokens, tokens) per block, exceed `MOST_BYTES`."""
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
            ).format(needed=needed / 1e9, most=MOST_BYTES / 1e9, model=capture.model.title)
        )


# ---------------------------------------------------------------------------------------------- changes as text


def read_changes(text: str) -> dict[str, dict[str, str]]:
    """Parse `positions:how=off;heads_off:heads=5.0+5.2,how=mean` into name -> settings; values stay texts.

    Raises SettingError for another syntax; `settled` checks names and values.
    """
    changes: dict[str, dict[str, str]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, _, settings = part.partition(":")
        pairs = [pair.partition("=") for pair in settings.split(",") if pair]
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
    """Write changes as the text that `read_changes` reads."""
    return ";".join(
        ":".join(filter(None, (name, ",".join(f"{key}={written_value(value)}" for key, value in settings.items()))))
        for name, settings in changes.items()
    )
