"""Checks before the server starts, of settings that would otherwise fail at the first visitor."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qsl

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.settings import Settings, WrongSettingError
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.models.catalog import find
from vitexplorer.models.examples import examples
from vitexplorer.service.cache_folder import CacheFolder

_NOT_POSSIBLE = Text("VIT_{name}={value} is not possible: {reason}", "VIT_{name}={value} 无效：{reason}")
_NO_FOLDER = Text(
    "VIT_RUNS_FOLDER={folder} cannot be made or written ({reason}): name another folder, or switch fine-tuning off "
    "with VIT_TRAININGS=0.",
    "VIT_RUNS_FOLDER={folder} 无法创建或写入（{reason}）：请指定其他文件夹，或用 VIT_TRAININGS=0 关闭微调。",
)
_NO_CACHE = Text(
    "VIT_CACHE_FOLDER={folder} cannot be made or written ({reason}): name another folder.",
    "VIT_CACHE_FOLDER={folder} 无法创建或写入（{reason}）：请指定其他文件夹。",
)
_PATH = Text(
    "{name} is a path, which the command line takes and the page does not; name a model, and open the file from the"
    " page's panel of models.",
    "{name} 是路径，命令行可用而网页不可用；请指定模型名称，并在网页的模型面板中打开该文件。",
)
_NO_TOOLS = Text(
    "VIT_MCP=1 needs a package that is not installed: pip install 'mcp>=1.21,<2'.",
    "VIT_MCP=1 需要一个尚未安装的软件包：pip install 'mcp>=1.21,<2'。",
)


def check(settings: Settings) -> None:
    """Raise WrongSettingError for unknown names, folders that cannot be written and missing packages."""
    first = dict(parse_qsl(settings.first))
    _check_model("MODEL", settings.model, settings.model)
    _check_model("FIRST", settings.first, first.get("model", settings.model))
    if (image := first.get("image")) is not None and image not in examples():
        raise _wrong("FIRST", settings.first, unknown_name("image", image, examples()))
    if settings.trainings:
        _check_folder(_NO_FOLDER, settings.runs_folder, lambda: _make(settings.runs_folder))
    _check_folder(_NO_CACHE, settings.cache_folder, lambda: CacheFolder.of_settings(settings).make())
    if settings.mcp and find_spec("mcp") is None:  # gradio would start without it
        raise WrongSettingError(_NO_TOOLS)


def _check_model(variable: str, value: str, name: str) -> None:
    if find(name) is not None:
        return
    from vitexplorer.models.loading import check_known, path_named  # torch and timm, which listed models need not load

    try:
        if path_named(name) is not None:
            raise ExplainedError(_PATH.format(name=name))
        check_known(name)
    except ExplainedError as error:
        raise _wrong(variable, value, error) from None


def _wrong(variable: str, value: str, error: ExplainedError) -> WrongSettingError:
    return WrongSettingError(_NOT_POSSIBLE.format(name=variable, value=value, reason=error.text))


def _check_folder(sentence: Text, folder: str, make: Callable[[], Path]) -> None:
    try:
        tempfile.TemporaryFile(dir=make()).close()
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WrongSettingError(sentence.format(folder=folder, reason=reason)) from None


def _make(folder: str) -> Path:
    path = Path(folder).expanduser()
    path.mkdir(parents=True, exist_ok=True)
    return path
