"""A file from a public address, never one of the network that the server stands in.

The name is resolved once, every address of a private network is refused, and the connection goes to the very address
that was looked at (`safehttpx`, which gradio fetches with too); so does each place that an answer sends on to. What
gradio's own function does not do: it stops at a size.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import safehttpx

from vitexplorer.words import ExplainedError, Text

REDIRECTS = 5
SECONDS = 30
"""for all of it"""

NOT_PUBLIC = Text(
    "{host} is no public address: an image is fetched from the open internet only.",
    "{host} 不是公网地址：只从公开的互联网获取图像。",
)
NOT_THERE = Text("The image could not be fetched from {host}: {reason}.", "无法从 {host} 获取图像：{reason}。")
TOO_LARGE = Text("The image at {host} is larger than {most} MB.", "{host} 上的图像超过 {most} MB。")


async def fetched(url: str, path: Path, most: int) -> None:
    """Write what is at `url` into `path`.

    Raises ExplainedError for an address that is not public, does not answer, or has more than `most` bytes.
    """
    try:
        async with asyncio.timeout(SECONDS):
            for _ in range(REDIRECTS):
                after = await _asked(httpx.URL(url), path, most)
                if after is None:
                    return
                url = after
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        raise _failed(url, type(error).__name__) from None
    raise _failed(url, Text("it only leads on to other addresses", "它只是不断转到其他地址"))


async def _asked(url: httpx.URL, path: Path, most: int) -> str | None:
    """One answer: None once the file is there, otherwise the address that it sends on to."""
    try:
        verified = await safehttpx.async_validate_url(url.host)
    except ValueError:
        raise ExplainedError(NOT_PUBLIC.format(host=url.host or url)) from None
    transport = safehttpx.AsyncSecureTransport(verified)
    async with httpx.AsyncClient(transport=transport) as client, client.stream("GET", url) as answer:
        if answer.has_redirect_location:
            return str(url.join(answer.headers["location"]))
        if not answer.is_success:
            raise _failed(str(url), f"HTTP {answer.status_code}")
        size = 0
        with path.open("wb") as file:
            async for part in answer.aiter_bytes():
                size += len(part)
                if size > most:
                    raise ExplainedError(TOO_LARGE.format(host=url.host, most=most // 10**6))
                file.write(part)
    return None


def _failed(url: str, reason: str | Text) -> ExplainedError:
    return ExplainedError(NOT_THERE.format(host=httpx.URL(url).host, reason=reason))
