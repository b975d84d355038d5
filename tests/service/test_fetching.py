"""Fetching images from addresses: only public addresses are asked, and every refusal is a sentence."""

from __future__ import annotations

import ipaddress
import json
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.helpers.waiting import now
from vitexplorer.core.text import ExplainedError
from vitexplorer.service import fetching

OUTSIDE, INSIDE = "93.184.215.14", "10.0.0.1"
NAMES = {
    "pictures.example": [OUTSIDE],
    "six.example": ["2606:4700::1111"],
    "xn--bcher-kva.example": [OUTSIDE],
    "inside.example": [INSIDE],
    "both.example": [OUTSIDE, INSIDE],
    "both-of-six.example": ["2606:4700::1111", "fe80::1%lo"],
    "nothing.example": [],
}
"""Host names with their IP addresses"""
PRIVATE = [
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "192.0.0.8",
    "192.88.99.1",
    "224.0.0.1",
    "240.0.0.1",
    "0.0.0.0",
    "255.255.255.255",
    "::",
    "::1",
    "fd00::1",
    "fec0::1",
    "fe80::1%eth0",
    "2606:4700::1111%eth0",
    "ff0e::1",
    "100::1",
    "5f00::1",
    "2001:db8::1",
    "3fff::1",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "::93.184.215.14",
    "64:ff9b::a00:1",
    "64:ff9b::5db8:d70e",
    "64:ff9b:1::a00:1",
    "2002:a00:1::",
    "2002:5db8:d70e::",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_what_not_everybody_reaches_is_not_public(address: str) -> None:
    assert not fetching._is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", [OUTSIDE, "2606:4700::1111", f"::ffff:{OUTSIDE}"])
def test_what_everybody_reaches_is_public(address: str) -> None:
    assert fetching._is_public(ipaddress.ip_address(address))


# ---------------------------------------------------------------------------------------------- what is asked


class World:
    """Simulated network: names, and servers that answer every question and record it."""

    def __init__(self) -> None:
        self.resolved: list[str] = []
        self.asked: list[httpx.Request] = []
        self.leads_to: dict[str, str] = {}
        """Redirects by path"""
        self._numbers = socket.getaddrinfo

    def resolve(self, host: str, port: int | None, **_: Any) -> list[tuple]:
        """Resolve as the system does, without asking anybody else."""
        try:
            return self._numbers(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except socket.gaierror:
            self.resolved.append(host)
            if host not in NAMES:
                raise
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in self.addresses(host)]

    def addresses(self, host: str) -> list[str]:
        """Set the address of a name."""
        return NAMES[host]

    async def answer(self, _: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        """Answer with a picture or a redirect."""
        self.asked.append(request)
        onward = self.leads_to.get(request.url.path, "").encode(errors="surrogatepass")
        if onward:
            return httpx.Response(302, headers=[(b"location", onward)])
        return httpx.Response(200, content=b"picture")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, *_, **more: made.resolve(host, port, **more))
    monkeypatch.setattr(
        httpx.AsyncHTTPTransport, "handle_async_request", lambda self, request: made.answer(self, request)
    )
    return made


def fetch(url: str, path: Path) -> None:
    now(fetching.fetched(url, path, most=1000))


def refused(url: str, path: Path) -> str:
    with pytest.raises(ExplainedError) as error:
        fetch(url, path)
    json.dumps([error.value.text.en, error.value.text.zh], ensure_ascii=False).encode()
    return error.value.text.en


REFUSED = [
    ("http://127.0.0.1/", "127.0.0.1 is not a public address"),
    ("http://[fe80::1%eth0]/", ""),
    ("http://[fe80::1%25eth0]/", ""),
    ("http://[fe80::1%lo]/", "not a public address"),
    ("http://[::ffff:127.0.0.1]/", "not a public address"),
    ("http://[::127.0.0.1]/", "not a public address"),
    ("http://[64:ff9b:1::7f00:1]/", "not a public address"),
    ("http://0177.0.0.1/", "not a web address"),
    ("http://0x7f.1/", "not a public address"),
    ("http://0x7f000001/", "not a public address"),
    ("http://127.1/", "not a public address"),
    ("http://2130706433/", "not a public address"),
    ("http://017700000001/", "not a public address"),
    ("http://127.0.0.1./", "no such name"),
    ("http://127。0。0。1/", "not a public address"),
    ("http://１２７.0.0.1/", "not a web address"),
    ("http://%31%32%37.0.0.1/", "no such name"),
    ("http://good@127.0.0.1/", "127.0.0.1 is not a public address"),
    ("http://pictures.example@127.0.0.1/", "127.0.0.1 is not a public address"),
    ("http://pictures.example:80@127.0.0.1:80/", "127.0.0.1 is not a public address"),
    ("http://127.0.0.1:80\\@inside.example/", "inside.example is not a public address"),
    ("http://inside.example\\@pictures.example:x/", "not a web address"),
    ("http://pictures.example\\.inside.example/", "no such name"),
    ("http://pictures.example:99999/", "not a web address"),
    ("http://pictures.example:0/", "not a web address"),
    ("http://pictures.example:-1/", "not a web address"),
    ("http://pictures.example:" + "9" * 5000, "not a web address"),
    ("http:///a", "not a web address"),
    ("http://@/", "not a web address"),
    ("http://:80/", "not a web address"),
    ("http:pictures.example", "not a web address"),
    ("http://[", "no such name"),
    ("http://[]/", "not a web address"),
    ("http://[::1/", "not a web address"),
    ("http://pictures.example\t/", "not a web address"),
    ("http://pictures\n.example/", "not a web address"),
    ("http://pictures.example\0/", "not a web address"),
    ("http://\ud800/", "not a web address"),
    (f"http://{'a' * 300}.example/", "no such name"),
    (f"http://{'ü' * 300}.example/", "not a web address"),
    ("http://xn--a/", "no such name"),
    ("http://xn--\u0080/", "not a web address"),
    ("http://xn--99999999999.example/", "no such name"),
    ("http://./", "no such name"),
    ("http://a..b/", "no such name"),
    ("http://inside.example/", "inside.example is not a public address"),
    ("http://both.example/", "both.example is not a public address"),
    ("http://both-of-six.example/", "both-of-six.example is not a public address"),
    ("http://nothing.example/", "no such name exists"),
    ("file:///etc/passwd", "not a web address"),
    ("ftp://pictures.example/", "not a web address"),
    ("gopher://pictures.example/", "not a web address"),
    ("javascript:alert(1)", "not a web address"),
    ("http://pictures.example/" + "a" * 70_000, "not a web address"),
]
IDS = [ascii(url)[1:41] for url, _ in REFUSED]


@pytest.mark.parametrize(("url", "says"), REFUSED, ids=IDS)
def test_what_is_no_public_address_is_a_sentence_and_nobody_is_asked(
    world: World, tmp_path: Path, url: str, says: str
) -> None:
    assert says in refused(url, tmp_path / "picture")
    assert world.asked == []


@pytest.mark.parametrize(("url", "says"), REFUSED, ids=IDS)
def test_an_answer_leads_to_no_such_address_either(world: World, tmp_path: Path, url: str, says: str) -> None:
    world.leads_to["/on"] = url
    message = "not a web address"  # what has no name of its own is read as a path
    try:
        fetch("http://pictures.example/on", tmp_path / "picture")
    except ExplainedError as error:
        message = error.text.en
    assert says in message
    assert {request.url.host for request in world.asked} == {OUTSIDE}


def test_a_name_is_resolved_once_and_the_address_that_was_judged_is_asked(world: World, tmp_path: Path) -> None:
    answers = iter([OUTSIDE])
    world.addresses = lambda _: [next(answers, INSIDE)]
    fetch("https://pictures.example:8443/a%20b?c#d", tmp_path / "picture")
    [request] = world.asked
    assert (world.resolved, str(request.url)) == (["pictures.example"], f"https://{OUTSIDE}:8443/a%20b?c#d")
    assert request.headers["host"] == "pictures.example:8443"
    assert request.extensions["sni_hostname"] == "pictures.example"
    assert (tmp_path / "picture").read_bytes() == b"picture"
    assert "pictures.example is not a public address" in refused("http://pictures.example/", tmp_path / "picture")


def test_each_place_on_the_way_is_judged_anew(world: World, tmp_path: Path) -> None:
    world.leads_to |= {"/a": "//six.example/b", "/b": "http://xn--bcher-kva.example/c", "/c": "?d"}
    assert "only redirects" in refused("http://pictures.example/a", tmp_path / "picture")
    hosts = [request.url.host for request in world.asked]
    assert hosts == [OUTSIDE, "2606:4700::1111", OUTSIDE, OUTSIDE, OUTSIDE]


def test_a_name_in_another_alphabet_is_asked_for(world: World, tmp_path: Path) -> None:
    fetch("http://bücher.example/", tmp_path / "picture")
    assert world.asked[0].headers["host"] == "xn--bcher-kva.example"


# ---------------------------------------------------------------------------------------------- any address

_V4 = st.ip_addresses(v=4) | st.sampled_from([one for one in PRIVATE if ":" not in one]).map(ipaddress.ip_address)
_V6 = st.ip_addresses(v=6) | st.sampled_from([one for one in PRIVATE if ":" in one]).map(ipaddress.ip_address)


def _embedded(address: ipaddress.IPv4Address) -> st.SearchStrategy[str]:
    """IPv4 addresses in other notations are refused."""
    number, parts = int(address), str(address).split(".")
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    written = [str(number), hex(number), f"0{number:o}", f"{parts[0]}.{number & 0xFFFFFF}", str(address)]
    written += [".".join(hex(int(part)) for part in parts), ".".join(f"0{int(part):o}" for part in parts)]
    written += [f"[{prefix}{high}:{low}]" for prefix in ("::ffff:", "::", "64:ff9b::", "64:ff9b:1::")]
    return st.sampled_from([*written, f"[2002:{high}:{low}::]", f"[::ffff:{address}%eth0]", "。".join(parts)])


HOSTS = (
    _V4.flatmap(_embedded)
    | _V6.map(lambda address: f"[{address}]")
    | st.sampled_from([*NAMES, "", "a" * 300, "xn--a", "xn--\u0080", "ⓛocalhost", "[::1", "::1]", "."])
    | st.text(max_size=8)
)
USERS = st.sampled_from(["", "@", "good@", "pictures.example@", "pictures.example:80@", "\\@", "a\\@"])
PORTS = st.sampled_from(["", ":", ":80", ":0", ":65535", ":65536", ":-1", ":٣", ":x", ":" + "9" * 5000])
SCHEMES = st.sampled_from(["http://", "https://", "HTTP://", "http:", "http:\\\\", "file://", "ftp://", "//", ""])
PATHS = st.sampled_from(["", "/", "/a", "\\a", "/\t", "?@127.0.0.1", "#@127.0.0.1", "/../\n"])
ADDRESSES = st.tuples(SCHEMES, USERS, HOSTS, PORTS, PATHS).map("".join)
NOT_OURS = [ipaddress.ip_network(one.partition("%")[0]) for one in PRIVATE] + [
    ipaddress.ip_network(one)
    for one in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
        "198.18.0.0/15", "224.0.0.0/3", "::/3", "4000::/2", "8000::/1", "2001::/32", "2002::/16", "2001:db8::/32",
    )
]  # fmt: skip
"""Networks that are not public, from the registries of special addresses (RFC 6890), without unassigned ones"""
NOT_OURS.remove(ipaddress.ip_network("2606:4700::1111"))  # with a scope alone


@settings(max_examples=100, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(ADDRESSES, min_size=1, max_size=2))
@example(["http://pictures.example/a", "http://[fe80::1%lo]/"])
def test_any_address_is_public_or_a_sentence(world: World, tmp_path: Path, addresses: list[str]) -> None:
    world.asked.clear()
    first, *onward = addresses
    world.leads_to = {"/a": onward[0]} if onward else {}
    try:
        fetch(first, tmp_path / "picture")
    except ExplainedError as error:
        json.dumps([error.text.en, error.text.zh], ensure_ascii=False).encode()
    for request in world.asked:
        asked = ipaddress.ip_address(request.url.host)
        assert not [network for network in NOT_OURS if asked.version == network.version and asked in network]
