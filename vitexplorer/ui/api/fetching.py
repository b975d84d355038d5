"""A file from a public address, never one of the network that the server stands in.

The name is resolved once, one that has any address of a private network is refused, and the connection goes to the
very address that was looked at; so it is for each place that an answer sends on to. gradio's own function has no
largest size, and asks a foreign server about names that it may not reach.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from pathlib import Path

import httpx
from safehttpx import AsyncSecureTransport

from vitexplorer.words import ExplainedError, Text

NAT64 = ipaddress.ip_network("64:ff9b::/96")
REDIRECTS = 5
SECONDS = 30
"""for all of it"""

NOT_PUBLIC = Text(
    "{host} is no public address: an image is fetched from the open internet only.",
    "{host} 不是公网地址：只从公开的互联网获取图像。",
)
NOT_THERE = Text("The image could not be fetched from {host}: {reason}.", "无法从 {host} 获取图像：{reason}。")
NO_SUCH_NAME = Text("there is no such name", "没有这个名称")
ONLY_ON = Text("it only leads on to other addresses", "它只是不断转到其他地址")
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
    raise _failed(url, ONLY_ON)


async def _asked(url: httpx.URL, path: Path, most: int) -> str | None:
    """One answer: None once the file is there, otherwise the address that it sends on to."""
    if not url.host:
        raise ExplainedError(NOT_PUBLIC.format(host=url))
    transport = AsyncSecureTransport(await _public_address(url.host))
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


async def _public_address(host: str) -> str:
    """Where the name leads. Raises ExplainedError unless all of its addresses are public."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ExplainedError(NOT_THERE.format(host=host, reason=NO_SUCH_NAME)) from None
    addresses = [ipaddress.ip_address(address[0]) for *_, address in found]
    if not all(map(_is_public, addresses)):
        raise ExplainedError(NOT_PUBLIC.format(host=host))
    return str(addresses[0])


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Neither private nor one that a translator may turn into a private one."""
    translated = address.version == 6 and (address.sixtofour or address.teredo or address in NAT64)
    return address.is_global and not address.is_multicast and not translated


def _failed(url: str, reason: str | Text) -> ExplainedError:
    return ExplainedError(NOT_THERE.format(host=httpx.URL(url).host, reason=reason))
