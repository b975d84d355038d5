"""Complete files of a result, never partial ones: pictures through a browser, numbers without one."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from vitexplorer.core.text import ExplainedError, Language, Text
from vitexplorer.core.types import Result
from vitexplorer.figures import browser
from vitexplorer.figures.inline import page_of
from vitexplorer.figures.rendering import render
from vitexplorer.figures.tables import as_csv, as_json
from vitexplorer.storage.atomic_writes import DiskFullError, replace_bytes

SUFFIXES = (".png", ".svg", ".pdf", ".html", ".csv", ".json")
LARGEST_SCALE = 10

FAILURES = {
    errno.ENOENT: Text(
        "There is no folder {folder}. Make it first, or choose another.",
        "文件夹 {folder} 不存在。请先创建，或选择其他位置。",
    ),
    errno.ENOTDIR: Text("{folder} is not a folder. Choose another path.", "{folder} 不是文件夹。请选择其他路径。"),
    errno.EACCES: Text(
        "You may not write to {folder}. Choose another folder.", "没有写入 {folder} 的权限。请选择其他文件夹。"
    ),
    errno.EROFS: Text("{folder} is read-only. Choose another folder.", "{folder} 是只读的。请选择其他文件夹。"),
    errno.EISDIR: Text("{path} is a folder. Add a file name.", "{path} 是文件夹。请加上文件名。"),
    errno.ENAMETOOLONG: Text("The file name {name} is too long.", "文件名 {name} 太长。"),
}
FULL = Text("{why} {path} was not saved.", "{why}未能保存 {path}。")
OTHERWISE = Text("{path} was not saved: {reason}.", "未能保存 {path}：{reason}。")


class SaveError(ExplainedError):
    """Raised if a file was not written; the message says why and what to do."""


def save(
    result: Result,
    path: str | os.PathLike[str],
    *,
    language: Language = "en",
    theme: str = "light",
    scale: float = 2,
    **options: Any,
) -> Path:
    """Write a result to `path`; its suffix chooses the format.

    Args:
        result: result of a view.
        path: .png, .svg or .pdf for the figure; .html for a page with it that needs no network; .csv for tidy numbers,
            each row with its source (UTF-8 with a byte order mark, for spreadsheets); .json for the numbers in full
            precision with all metadata.
        language: language of the figure, and of the names in a table; JSON has both.
        theme: theme of the figure.
        scale: pixels of a PNG for each pixel of the figure, more than 0 and at most 10.
        options: options of the figure, see `render`.

    Returns:
        The path. An interrupted save leaves the previous file unchanged.

    Raises:
        SaveError: an unknown suffix, a wrong scale, or a file that cannot be written.
        PictureError: no browser for a picture.
        NoRendererError: no renderer for this type of result.
        UnknownNameError: an unknown option, colour map or theme.
    """
    path = Path(path)
    suffix = checked_suffix(path, SUFFIXES)
    if not 0 < scale <= LARGEST_SCALE:
        raise SaveError(
            Text(
                "scale must be more than 0 and at most {largest}, not {scale}.",
                "scale 必须大于 0 且不超过 {largest}，而不是 {scale}。",
            ).format(largest=LARGEST_SCALE, scale=scale)
        )
    if suffix == ".csv":
        content = as_csv(result, language).encode("utf-8-sig")
    elif suffix == ".json":
        content = as_json(result).encode()
    elif suffix == ".html":
        content = page_of(render(result, language=language, theme=theme, **options), result.title, language).encode()
    elif suffix == ".png":
        content = png_of(result, scale, language=language, theme=theme, **options)
    else:
        content = browser.picture(render(result, language=language, theme=theme, **options), suffix[1:], 1)
    write(path, content)
    return path


def png_of(result: Result, scale: float, **options: Any) -> bytes:
    """Draw a result as a PNG of `scale` pixels for each of the figure; options and errors are those of `render`."""
    return browser.picture(render(result, **options), "png", scale)


def checked_suffix(path: Path, known: tuple[str, ...]) -> str:
    """Return the suffix in small letters. Raises SaveError if it is not a known one."""
    suffix = path.suffix.lower()
    if suffix not in known:
        raise SaveError(
            Text(
                "The file name {name} states no format: it must end in one of {known}.",
                "文件名 {name} 未指明保存格式：必须以下列之一结尾：{known}。",
            ).format(name=path.name, known=", ".join(known))
        )
    return suffix


def write(path: Path, content: bytes) -> None:
    """Write a complete file or none: first beside its place, then moved there in one step. Raises SaveError."""
    try:
        replace_bytes(path, content)
    except DiskFullError as error:
        raise SaveError(FULL.format(why=error.text, path=path)) from error
    except OSError as error:
        message = FAILURES.get(error.errno, OTHERWISE)
        raise SaveError(
            message.format(path=path, folder=path.parent, name=path.name, reason=error.strerror or error)
        ) from error
