"""Fetching of a file from a public address, never from the network that the server is in.

A URL is parsed once, by httpx, which also sends the request. Its name is resolved once; a name with any private address
is refused, and the connection goes to the address that was checked. The same holds for every redirect. gradio's own
function has no size limit and resolves names at a foreign server; its transport ignores the port in its check, and
breaks on names in other alphabets.
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
"""Allocated IPv6 addresses; outside lie private networks, and IPv4-mapped and NAT64 addresses, which lead inside"""
NOT_EVERYBODYS = [
    ipaddress.ip_network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")
]
"""Networks of protocols (6to4 and Teredo lead inside) and of examples; versions of Python differ on them"""
REDIRECTS = 5
SECONDS = 30
"""Limit for the whole download, redirects included"""

NO_ADDRESS = Text(
    "{address} is not a web address: give http:// or https://, the name of a server, and a path.",
    "{address} 不是网页地址：请以 http:// 或 https:// 开头，并给出服务器名称和路径。",
)
NOT_PUBLIC = Text(
    "{host} is not a public address: images are fetched from the open internet only.",
    "{host} 不是公网地址：只从公开的互联网获取图像。",
)
NOT_THERE = Text("The image could not be fetched from {host}: {reason}.", "无法从 {host} 获取图像：{reason}。")
NO_SUCH_NAME = Text("no such name exists", "没有这个服务器名称")
ONLY_ON = Text("it only redirects to other addresses", "它只是不断重定向到其他地址")
TOO_LARGE = Text("The image at {host} is larger than {most} MB.", "{host} 上的图像超过 {most} MB。")
MOST_CHARACTERS = 200
"""Characters of an address that a message repeats"""


async def fetched(url: str, path: Path, most: int) -> None:
    """Download `url`, of http or https, into `path`: at most `most` bytes.

    Raises:
        ExplainedError: the address is invalid, not public or does not answer, or the file is too large.
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
    """Parse an address, relative to `of` for a redirect; ExplainedError for one that cannot be requested."""
    try:
        url = httpx.URL(address) if of is None else of.join(address)
        known = url.scheme in ("http", "https") and url.raw_host and (url.port is None or 0 < url.port < 2**16)
    except (httpx.InvalidURL, ValueError):
        known = False
    if not known:
        raise ExplainedError(NO_ADDRESS.format(address=repr(address)[:MOST_CHARACTERS]))
    return url


async def _asked(url: httpx.URL, path: Path, most: int) -> httpx.URL | None:
    """Send one request: None once the file is written, else the address of a redirect."""
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
                        raise ExplainedError(TOO_LARGE.format(host=_host(url)[:MOST_CHARACTERS], most=most // 10**6))
                    file.write(part)
    return None


def _request(url: httpx.URL, address: str) -> httpx.Request:
    """Make a request to the checked address, whatever the name resolves to by now; TLS still verifies the name.

    httpx's client is avoided, since it parses redirects by itself and breaks on an invalid address.
    """
    headers = {"host": url.netloc.decode("ascii"), "user-agent": "vitexplorer", "accept": "*/*"}
    return httpx.Request("GET", url.copy_with(host=address), headers=headers, extensions={"sni_hostname": _host(url)})


async def _public_address(host: str) -> str:
    """Resolve a name; ExplainedError unless all of its addresses are public."""
    try:
        infos = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        addresses = [ipaddress.ip_address(address[0]) for *_, address in infos]
    except (OSError, ValueError):
        addresses = []
    if not addresses:
        raise ExplainedError(NOT_THERE.format(host=host[:MOST_CHARACTERS], reason=NO_SUCH_NAME))
    if not all(map(_is_public, addresses)):
        raise ExplainedError(NOT_PUBLIC.format(host=host[:MOST_CHARACTERS]))
    return str(addresses[0])


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return True for an address that is neither private nor may be translated into a private one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.scope_id is None and _is_public(address.ipv4_mapped)
        if address.scope_id is not None or address not in GIVEN_OUT:
            return False
    special = any(address in network for network in NOT_EVERYBODYS)
    return address.is_global and not address.is_multicast and not special


def _host(url: httpx.URL) -> str:
    """Return the name for the resolver, in ASCII; httpx's `host` decodes `xn--`, which may be invalid."""
    return url.raw_host.decode("ascii")


def _failed(url: httpx.URL, reason: str | Text) -> ExplainedError:
    return ExplainedError(NOT_THERE.format(host=_host(url)[:MOST_CHARACTERS], reason=reason))
