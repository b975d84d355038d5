"""A file from a public address, never one of the network that the server stands in.

An address is read once, by httpx, which also asks it. Its name is resolved once, one that has any address of a private
network is refused, and the connection goes to the very address that was looked at; so it is for each place that an
answer sends on to. gradio's own function has no largest size, and asks a foreign server about names that it may not
reach; the transport that it stands on leaves the port out of the question, and breaks on names in other alphabets.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from contextlib import aclosing
from pathlib import Path

import httpx

from vitexplorer.core.text import ExplainedError, Text

GIVEN_OUT = ipaddress.ip_network("2000::/3")
"""all that is given out of IPv6; beyond lie, beside private networks, IPv4 as IPv6 and NAT64, which lead inside"""
NOT_EVERYBODYS = [
    ipaddress.ip_network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")
]
"""assigned to protocols (6to4 and Teredo, which lead inside) and to examples; versions of Python differ about them"""
REDIRECTS = 5
SECONDS = 30
"""for all of it"""

NO_ADDRESS = Text(
    "{address} is no web address: give http:// or https://, the name of a server, and a path.",
    "{address} 不是网页地址：请以 http:// 或 https:// 开头，并给出服务器名称和路径。",
)
NOT_PUBLIC = Text(
    "{host} is no public address: an image is fetched from the open internet only.",
    "{host} 不是公网地址：只从公开的互联网获取图像。",
)
NOT_THERE = Text("The image could not be fetched from {host}: {reason}.", "无法从 {host} 获取图像：{reason}。")
NO_SUCH_NAME = Text("there is no such name", "没有这个名称")
ONLY_ON = Text("it only leads on to other addresses", "它只是不断转到其他地址")
TOO_LARGE = Text("The image at {host} is larger than {most} MB.", "{host} 上的图像超过 {most} MB。")
SHOWN = 200
"""letters of an address that a sentence repeats"""


async def fetched(url: str, path: Path, most: int) -> None:
    """Write what is at `url` into `path`.

    Raises ExplainedError for what is no address, is not public, does not answer, or has more than `most` bytes.
    """
    place = _read(url)
    try:
        async with asyncio.timeout(SECONDS):
            for _ in range(REDIRECTS):
                after = await _asked(place, path, most)
                if after is None:
                    return
                place = after
    except (httpx.HTTPError, TimeoutError) as error:
        raise _failed(place, type(error).__name__) from None
    raise _failed(place, ONLY_ON)


def _read(address: str, of: httpx.URL | None = None) -> httpx.URL:
    """An address, relative to that `of` which it was found. Raises ExplainedError for one that nobody could ask."""
    try:
        url = httpx.URL(address) if of is None else of.join(address)
        known = url.scheme in ("http", "https") and url.raw_host and (url.port is None or 0 < url.port < 2**16)
    except (httpx.InvalidURL, ValueError):
        known = False
    if not known:
        raise ExplainedError(NO_ADDRESS.format(address=repr(address)[:SHOWN]))
    return url


async def _asked(url: httpx.URL, path: Path, most: int) -> httpx.URL | None:
    """One answer: None once the file is there, otherwise the address that it sends on to."""
    async with httpx.AsyncHTTPTransport() as transport:
        answer = await transport.handle_async_request(_request(url, await _public_address(_host(url))))
        async with aclosing(answer):
            if answer.has_redirect_location:
                return _read(answer.headers["location"], url)
            if not answer.is_success:
                raise _failed(url, f"HTTP {answer.status_code}")
            size = 0
            with path.open("wb") as file:
                async for part in answer.aiter_bytes():
                    size += len(part)
                    if size > most:
                        raise ExplainedError(TOO_LARGE.format(host=_host(url)[:SHOWN], most=most // 10**6))
                    file.write(part)
    return None


def _request(url: httpx.URL, address: str) -> httpx.Request:
    """A question to one address, whatever the name stands for by now; the server is told the name, and has to prove it.

    It is asked without httpx's client, which reads where an answer sends on to, and breaks on what is no address.
    """
    headers = {"host": url.netloc.decode("ascii"), "user-agent": "vitexplorer", "accept": "*/*"}
    return httpx.Request("GET", url.copy_with(host=address), headers=headers, extensions={"sni_hostname": _host(url)})


async def _public_address(host: str) -> str:
    """Where the name leads. Raises ExplainedError unless all of its addresses are public."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        addresses = [ipaddress.ip_address(address[0]) for *_, address in found]
    except (OSError, ValueError):
        addresses = []
    if not addresses:
        raise ExplainedError(NOT_THERE.format(host=host[:SHOWN], reason=NO_SUCH_NAME))
    if not all(map(_is_public, addresses)):
        raise ExplainedError(NOT_PUBLIC.format(host=host[:SHOWN]))
    return str(addresses[0])


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Neither private nor one that is, or may be translated into, a private one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.scope_id is None and _is_public(address.ipv4_mapped)
        if address.scope_id is not None or address not in GIVEN_OUT:
            return False
    special = any(address in network for network in NOT_EVERYBODYS)
    return address.is_global and not address.is_multicast and not special


def _host(url: httpx.URL) -> str:
    """The name as a resolver is asked for it, in ASCII; httpx's `host` reads `xn--` as letters, which it may not be."""
    return url.raw_host.decode("ascii")


def _failed(url: httpx.URL, reason: str | Text) -> ExplainedError:
    return ExplainedError(NOT_THERE.format(host=_host(url)[:SHOWN], reason=reason))
