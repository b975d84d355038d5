"""A hosted page under attack: each attempt gets a status and a sentence, and the page goes on."""

from __future__ import annotations

import json
import os
import re
import socket
import time
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import gradio as gr
import httpx
import pytest

import vitexplorer.ui
from tests.helpers.fuzzed_http import SENT
from tests.helpers.hosted_page import hosted
from tests.helpers.tree import ROOT
from tests.helpers.waiting import until
from vitexplorer.core.settings import ASSETS, Settings, settings
from vitexplorer.finetune.job.folder import CONFIG
from vitexplorer.finetune.job.plan import Candidate, JobConfig
from vitexplorer.service import cache_folder
from vitexplorer.service import scheduler as turns
from vitexplorer.service import storage_limits as storing
from vitexplorer.service.cache_folder import CacheFolder, FolderUsage
from vitexplorer.service.engine import Engine
from vitexplorer.service.storage_limits import StorageLimits, check_room
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.service.visitor_names import training_of, visitor_of
from vitexplorer.storage.claims import JobError
from vitexplorer.ui.gradio_adapter import connections
from vitexplorer.ui.page import Page, build_page
from vitexplorer.ui.server import body_limits as bodies
from vitexplorer.ui.server import event_checks as events
from vitexplorer.ui.server.api import explaining
from vitexplorer.ui.server.event_fields import Sent
from vitexplorer.ui.server.static_files import static_files
from vitexplorer.ui.shell.address import SelectedView

SETTINGS = {
    "VIT_HOSTED": "1",
    "VIT_MCP": "1",
    "VIT_PORT": "0",
    "VIT_HOSTS": "vit.example, *.vit.example",
    "VIT_PROXIES": "127.0.0.1",
    "VIT_CONNECTIONS": "30",
    "VIT_SESSIONS": "5",
    "VIT_MAX_UPLOAD_MEGABYTES": "2",
    "VIT_SENT_MEGABYTES": "5",
}


ANNA, BEN = "a" * 32, "b" * 32
"""Names of two visitors' browsers"""
BYTES = "application/octet-stream"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the server's data."""
    return tmp_path_factory.mktemp("hosted")


@pytest.fixture(scope="module")
def url(folders: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Page, "explore", _nothing)
        with hosted(**SETTINGS, VIT_RUNS_FOLDER=str(folders / "runs"), VIT_CACHE_FOLDER=str(folders)) as address:
            yield address


async def _nothing(*_: Any) -> AsyncGenerator[dict[Any, Any], None]:
    for never in ():
        yield never


def send_picture(client: httpx.Client, content: bytes, headers: dict[str, str] | None = None) -> httpx.Response:
    return client.post("/picture", content=content, headers={"content-type": BYTES, **(headers or {})})


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    """Return a client without a browser; afterwards, check that the page still answers."""
    with httpx.Client(base_url=url, timeout=60) as asking:
        yield asking
        assert asking.get("/theme.css").status_code == 200


# ------------------------------------------------------------------------------------------------ who asks


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost:1", "[::1]:7860", "vit.example", "VIT.example:443", "a.vit.example"]
)
def test_names_of_the_page_are_known(client: httpx.Client, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "vit.example.evil.example", "avit.example", "192.0.2.1", "[", ""),
        *("localhost:abc", "localhost:99999", "localhost:-1", "localhost:80:80", "localhost:٣", "user@localhost"),
        *("localhost/evil", "localhost?evil", "loc\talhost", "[::1]x", "[::1", "[fe80::1%eth0]"),
        *("127.0.0.1.", "0177.0.0.1", "2130706433"),
    ],
)
@pytest.mark.parametrize("header", ["host", "x-forwarded-host"])
def test_a_name_that_is_not_the_pages_is_refused(client: httpx.Client, header: str, host: str) -> None:
    if (header, host) == ("x-forwarded-host", ""):
        return  # says nothing
    answer = client.get("/", headers={header: host.encode(), "accept-language": "zh"})
    assert answer.status_code == 421
    assert "VIT_HOSTS" in answer.json()["error"]
    assert "管理员" in answer.json()["error"]


@pytest.mark.parametrize("server", ["http://evil.example", "http://localhost:abc/", "localhost", "http://["])
def test_a_server_of_gradios_that_is_not_the_pages_is_refused(client: httpx.Client, server: str) -> None:
    assert client.get("/", headers={"x-gradio-server": server}).status_code == 421
    assert client.get("/", headers={"x-gradio-server": "https://vit.example/app"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        *({"origin": one} for one in ("https://evil.example", "null", "http://127.0.0.1:1", "http://[", "127.0.0.1")),
        *({"sec-fetch-site": one} for one in ("cross-site", "same-site")),
    ],
)
def test_a_page_of_another_origin_changes_nothing(client: httpx.Client, headers: dict[str, str]) -> None:
    event = client.post("/gradio_api/run/predict", json={"data": [], "fn_index": 0}, headers=headers)
    upload = client.post("/gradio_api/upload", files={"files": ("a.png", b"picture")}, headers=headers)
    picture = send_picture(client, b"", headers)
    assert [answer.status_code for answer in (event, upload, picture)] == [403] * 3
    assert "VIT_ORIGINS" in event.json()["error"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_page_of_another_origin_may_not_read(client: httpx.Client, origin: str) -> None:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    for answer in (
        client.options("/gradio_api/queue/join", headers={"origin": origin, **asked}),
        client.get("/config", headers={"origin": origin}),
    ):
        assert not {name for name in answer.headers if name.startswith("access-control-allow-") and origin in name}
        assert "access-control-allow-origin" not in answer.headers
        assert "access-control-allow-credentials" not in answer.headers


def test_the_page_itself_may(client: httpx.Client, url: str) -> None:
    for headers in ({"origin": url.rstrip("/")}, {"sec-fetch-site": "same-origin"}):
        assert send_picture(client, b"no picture", headers).status_code == 422


# ------------------------------------------------------------------------------------------------ what is there


@pytest.mark.parametrize(
    "address",
    [
        "deep_link?session_hash=a",
        "file=https://example.org/a.png",
        "file=HTTPS://example.org",
        "proxy=https://a.hf.space/",
        "component_server",
        "token",
        "dev/reload",
        "runs",
        "stream/a/b/1/playlist.m3u8",
        "vibe-code",
        "../monitoring",
        "../login",
    ],
)
def test_what_the_page_does_not_use_is_not_there(client: httpx.Client, address: str) -> None:
    for answer in (client.get(f"/gradio_api/{address}"), client.post(f"/gradio_api/{address}")):
        assert (answer.status_code, answer.text) == (404, "Not found")


def test_every_answer_has_the_security_headers(client: httpx.Client) -> None:
    page, refused = client.get("/"), client.get("/", headers={"host": "evil.example"})
    file, missing = client.get("/theme.css"), client.get("/nothing")
    for answer in (page, refused, file, missing):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors" in answer.headers["content-security-policy"]
    policy = page.headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert "frame-ancestors 'self'" in policy
    assert "sandbox" in file.headers["content-security-policy"]


def test_the_documentation_has_the_policy_of_the_page(client: httpx.Client) -> None:
    hosting = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
    written = re.search(r"```text\n(default-src .*?)\n```", hosting, re.DOTALL)
    assert written, "docs/hosting.md gives the Content-Security-Policy of a page"
    policy = re.sub(r"(?:'sha256-\S+'\s?)+(?=;)", "{hashes}", client.get("/").headers["content-security-policy"])
    assert " ".join(written[1].split()).format(hashes="{hashes}", frames="'self'") == policy


def test_no_script_of_the_page_makes_functions_of_text() -> None:
    """Scripts that do need `unsafe-eval`, which the policy allows for gradio; the plain pages do without it."""
    scripts = {name: source.decode() for name, source in static_files().items() if name.endswith(".js")}
    assert [name for name, source in scripts.items() if re.search(r"\b(?:eval|Function)\(|javascript:", source)] == []


@pytest.mark.parametrize(("accepted", "sent"), [("gzip, deflate, br", "br"), ("gzip", "gzip"), ("identity", None)])
def test_the_page_is_compressed_as_a_browser_accepts(client: httpx.Client, accepted: str, sent: str | None) -> None:
    answer = client.get("/", headers={"accept-encoding": accepted})
    assert (answer.headers.get("content-encoding"), "gradio_config" in answer.text) == (sent, True)
    assert (int(answer.headers["content-length"]) < len(answer.content) / 4) == bool(sent)


# ------------------------------------------------------------------------------------------------ what is sent


def parts(size: int) -> Iterator[bytes]:
    """Yield a body without a stated length."""
    for _ in range(size // 100_000):
        yield bytes(100_000)


@pytest.mark.parametrize("body", [bytes(2_100_000), parts(4_000_000)], ids=["counted", "chunked"])
def test_an_event_is_small(client: httpx.Client, body: bytes | Iterator[bytes]) -> None:
    answer = client.post("/gradio_api/queue/join", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, "2 MB" in answer.json()["error"]) == (413, True)


def test_nobody_fetches_the_file_of_a_picture(client: httpx.Client, folders: Path) -> None:
    image = send_picture(client, (ASSETS / "examples" / "scene_mug.webp").read_bytes()).json()["image"]
    [file] = folders.glob(f"vitexplorer-*/**/{image}")
    assert client.get(f"/gradio_api/file={file}").status_code == 403


def upload(client: httpx.Client, size: int, sender: str) -> httpx.Response:
    files = {"files": ("images.zip", bytes(size))}
    return client.post("/gradio_api/upload", files=files, headers={"x-forwarded-for": sender})


def cached(folders: Path) -> list[Path]:
    """Return the files of the server's cache."""
    return [path for path in folders.glob("vitexplorer-*/**/*") if path.is_file()]


def test_a_visitor_may_send_so_much_in_an_hour_and_another_one_still_may(client: httpx.Client) -> None:
    answers = [upload(client, 1_900_000, "192.0.2.1") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert "within an hour" in answers[-1].json()["error"]
    assert upload(client, 1_900_000, "192.0.2.2").status_code == 200


def test_a_file_that_is_too_large_leaves_nothing(client: httpx.Client, folders: Path) -> None:
    before = cached(folders)
    assert upload(client, 2_100_000, "192.0.2.3").status_code == 413
    assert upload(client, 3_500_000, "192.0.2.3").status_code == 413
    assert cached(folders) == before


def test_an_upload_that_breaks_off_leaves_nothing(client: httpx.Client, url: str, folders: Path) -> None:
    before = len(cached(folders))
    with connection(url) as line:
        line.sendall(form_head(1_000_000) + bytes(200_000))
        until(lambda: len(cached(folders)) == before + 1)
    until(lambda: len(cached(folders)) == before)


def test_an_upload_that_does_not_go_on_is_given_up(client, url: str, folders: Path, monkeypatch) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.1)
    before = cached(folders)
    with connection(url) as line:
        line.sendall(form_head(1_000_000) + bytes(10))
        assert line.recv(1000).startswith(b"HTTP/1.1 408")
    until(lambda: cached(folders) == before)


# ------------------------------------------------------------------------------------------------ who holds the line


def connection(url: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", httpx.URL(url).port), timeout=30)


def form_head(size: int) -> bytes:
    """Return the beginning of an upload."""
    lines = ["POST /gradio_api/upload HTTP/1.1", "host: localhost", f"content-length: {size}"]
    lines += ["content-type: multipart/form-data; boundary=b", "", "--b"]
    lines += ['content-disposition: form-data; name="files"; filename="a.zip"', "", ""]
    return "\r\n".join(lines).encode()


def test_half_a_head_is_not_held_for_ever(client: httpx.Client, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    with connection(url) as line:
        line.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n")
        assert line.recv(1000).startswith(b"HTTP/1.1 408")
        assert line.recv(1000) == b""


def test_one_address_cannot_take_every_connection(client: httpx.Client, url: str) -> None:
    with ExitStack() as held:
        other = held.enter_context(httpx.Client(base_url=url, headers={"x-forwarded-for": "192.0.2.66"}, timeout=60))
        followed = [held.enter_context(other.stream("GET", f"/gradio_api/heartbeat/{n}")) for n in range(15)]
        assert {answer.status_code for answer in followed} == {200}
        refused = other.get("/gradio_api/heartbeat/another")
        assert (refused.status_code, "15 requests at once" in refused.json()["error"]) == (429, True)
        assert client.get("/theme.css").status_code == 200
    until(lambda: httpx.get(f"{url}theme.css", headers={"x-forwarded-for": "192.0.2.66"}).status_code == 200)


@pytest.mark.parametrize("was_answered", [False, True])
def test_who_only_holds_connections_makes_way_for_who_asks(url: str, was_answered: bool) -> None:
    with ExitStack() as held:
        for _ in range(60):
            one = held.enter_context(connection(url))
            one.sendall(b"GET /theme.css HTTP/1.1\r\n")
            if was_answered:
                one.sendall(b"Host: 127.0.0.1\r\n\r\n")
                assert one.recv(12) == b"HTTP/1.1 200"
        with httpx.Client(base_url=url, timeout=60) as honest:
            assert [honest.get("/theme.css").status_code for _ in range(3)] == [200] * 3


# ------------------------------------------------------------------------------------------------ what a browser sends


class Tab:
    """An open page of a browser with nothing captured."""

    def __init__(self, client: httpx.Client, config: dict[str, Any], sender: str = "192.0.2.10"):
        self.client, self.headers = client, {"x-forwarded-for": sender}
        self.session = uuid.uuid4().hex[:11]
        self.handlers = config["dependencies"]
        self.ids = {one["props"].get("elem_id"): one["id"] for one in config["components"]}
        self.ids[""] = config["layout"]["id"]

    def handler(self, component: str, event: str) -> dict[str, Any]:
        """Return the function bound to an event of a component, named by its id in the page; empty: the page itself."""
        target = [self.ids[component], event]
        return next(one for one in self.handlers if target in one["targets"])

    def after(self, handler: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the functions that follow it."""
        return [one for one in self.handlers if one["trigger_after"] == handler["id"]]

    def send(self, handler: dict[str, Any], data: list[Any] | None = None, **more: Any) -> httpx.Response:
        """Return the answer to an event with these inputs, by default None each."""
        data = [None] * len(handler["inputs"]) if data is None else data
        body = {"data": data, "fn_index": handler["id"], "session_hash": self.session, "event_data": None, **more}
        address = "queue/join" if handler["queue"] else "run/predict"
        answer = self.client.post(f"/gradio_api/{address}", json=body, headers=self.headers)
        if answer.is_error or not handler["queue"]:
            return answer
        return self.client.get("/gradio_api/queue/data", params={"session_hash": self.session}, headers=self.headers)

    def fire(self, component: str, event: str, **event_data: Any) -> httpx.Response:
        """Return the answer to an event of a component of ours."""
        return self.send(self.handler(component, event), event_data=event_data)

    def open(self) -> Tab:
        """Send the page's first request."""
        assert self.send(self.handler("", "load")).status_code == 200
        return self

    def say(self, visitor: str | None) -> httpx.Response:
        """Send what names a visitor, as JSON, and return the answer of the menu of models."""
        menu = next(one for one in self.handlers if "vxVisitor" in str(one["js"]) and one["queue"] is False)
        return self.send(menu, [visitor, *[None] * (len(menu["inputs"]) - 1)])


@pytest.fixture(scope="module")
def config(url: str) -> dict[str, Any]:
    """Return the configuration of the page."""
    return httpx.get(f"{url}config").json()


@pytest.fixture(scope="module")
def tab(url: str, config: dict[str, Any]) -> Iterator[Tab]:
    """Return the page of an honest visitor, open all the time."""
    with httpx.Client(base_url=url, timeout=60) as asking:
        yield Tab(asking, config).open()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for a page that may just be opening."""
    monkeypatch.setattr(events, "_OPENING", 0.0)


def test_made_up_names_push_nobody_out(client: httpx.Client, config, tab: Tab, impatient: None) -> None:
    other = Tab(client, config, sender="192.0.2.66")
    for number in range(8):
        other.session = f"madeup{number}"
        assert other.fire("vx-image", "choose", image="scene_mug").status_code == 410
        other.open()
    answer = tab.fire("vx-image", "choose", image="scene_mug")
    assert (answer.status_code, "scene_mug" in answer.text) == (200, True)


def test_a_page_that_is_not_remembered_is_led_back(client: httpx.Client, config, impatient: None) -> None:
    tab = Tab(client, config)
    forgotten = tab.fire("vx-image", "choose", image="scene_mug")
    assert (forgotten.status_code, "its address leads back" in forgotten.json()["error"]) == (410, True)
    assert tab.open().fire("vx-image", "choose", image="scene_mug").status_code == 200


WRONG = [
    {"data": "text"},
    {"data": []},
    {"data": [None] * 50},
    {"fn_index": 100_000},
    {"fn_index": "0"},
    {"fn_index": 10**400},
    {"session_hash": "../../a"},
    {"session_hash": None},
    {"event_data": None},
    {"event_data": ["image"]},
    {"event_data": {"image": 3}},
    {"event_data": {"image": "a" * 30_000}},
    {"event_data": {"asked": "many"}},
    {"event_data": {"block": 10**30}},
    {"event_data": {"settings": {"a": {"b": 1}}}},
    {"event_data": {"settings": [1]}},
    {"event_data": {"methods": [{"key": 1}]}},
    {"event_data": {"methods": ["nonsense"]}},
    {"event_data": {"text": 3}},
    {"event_data": {"head": [1]}},
    {"event_data": {"pinned": "yes"}},
    {"event_data": {"block": "7"}},
    {"event_data": {"query": {"row": 1}}},
    {"event_data": {"run": {}}},
    {"event_data": {"settings": {"path": "/etc/passwd"}}},
    {"event_data": {"settings": {"path": "\0"}}},
    {"event_data": {"unheard_of": [{"path": "/etc/passwd"}]}},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_the_page_does_not_send_is_no_event(tab: Tab, caplog, capfd, wrong: dict[str, Any]) -> None:
    handler = tab.handler("vx-image", "choose")
    answer = tab.send(handler, **{"event_data": {"image": "scene_mug"}, **wrong})
    assert (answer.status_code, answer.json()) == (422, {"error": "The page sends nothing like this."})
    assert (caplog.text, capfd.readouterr().err) == ("", "")


async def test_the_rooms_hold_nothing_but_tabs() -> None:
    """Gradio numbers all children of its tabs; one that is no tab keeps a tab from telling that it was opened."""
    result, _ = build_page(settings(), Engine(settings()))
    (rooms,) = [block for block in result.blocks.values() if isinstance(block, gr.Tabs) and block.elem_id == "vx-rooms"]
    assert {type(child) for child in rooms.children} == {gr.Tab}


async def test_what_a_handler_reads_of_an_event_has_been_read_before() -> None:
    result, _ = build_page(settings(), Engine(settings()))
    reading = [one for one in result.fns.values() if one.collects_event_data]
    assert reading
    for handler in reading:
        assert all(hasattr(result.blocks[target], "sends") for target, _ in handler.targets), handler.fn
    sources = "".join(path.read_text() for path in Path(vitexplorer.ui.__file__).parent.rglob("*.py"))
    read = set(re.findall(r'fields(?:_of\(event\))?(?:\.get\(|\[)"(\w+)"', sources))
    assert {"asked", "step"} <= read <= Sent.model_fields.keys() == SENT.keys()


NO_OBJECTS = {
    "empty": b"",
    "half": b"{",
    "more": b'{"data": ["en"]} {}',
    "null": b"null",
    "a list": b'["en"]',
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "deep and whole": b'{"data": ' + b"[" * 500 + b"]" * 500 + b"}",
    "no text": b'{"data": ["\xff"]}',
    "another encoding": '{"data": ["en"]}'.encode("utf-16"),
    "half a pair": b'{"data": ["\\ud800"]}',
    "a name of half a pair": b'{"\\ud800": 1}',
    "no number": b'{"data": [NaN]}',
    "no finite number": b'{"data": [-Infinity]}',
    "a number that becomes infinite": b'{"data": [1e400]}',
    "many digits": b'{"data": [' + b"9" * 5000 + b"]}",
    "a name twice": b'{"data": [], "data": ["en"]}',
}
"""Bodies that break one JSON reader or another"""
OBJECTS_AT = ("run/predict", "queue/join", "call/models", "call/v2/models", "cancel", "reset", "mcp/", "mcp/messages/")


@pytest.mark.parametrize("body", NO_OBJECTS.values(), ids=NO_OBJECTS)
def test_what_is_no_json_object_is_a_sentence_everywhere(client: httpx.Client, body: bytes, caplog, capfd) -> None:
    for address in OBJECTS_AT:
        answer = client.post(f"/gradio_api/{address}", content=body, headers={"content-type": "application/json"})
        assert (address, answer.status_code, list(answer.json())) == (address, 400, ["error"])
        assert answer.json()["error"].startswith("This must be a JSON object: ")
    assert (caplog.text, capfd.readouterr().err) == ("", "")


@pytest.mark.parametrize("length", ["-1", "1e3", "x", "9" * 30, "3, 4", "\u0663"])
def test_a_length_that_is_none_is_refused(url: str, length: str) -> None:
    with connection(url) as line:
        head = f"POST /gradio_api/cancel HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{{}}"
        line.sendall(head.encode())
        assert line.recv(1000).startswith((b"HTTP/1.1 400", b"HTTP/1.1 413"))


def test_a_body_shorter_or_longer_than_it_says_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.1)
    for length, status in ((1, b"400"), (20, b"408")):
        with connection(url) as line:
            head = f"POST /gradio_api/call/models HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
            line.sendall(head.encode() + b'{"data": ["en"]}')
            assert line.recv(1000).startswith(b"HTTP/1.1 " + status)


def test_what_is_no_json_in_a_value_is_nothing(tab: Tab, capfd) -> None:
    """Pages send their visitor and address as JSON inside of an event's JSON."""
    for value in ("[" * 19_000, '{"visitor": ' * 1500, "9" * 5000, '{"visitor": "\\ud800"}', "[]", None):
        assert tab.say(value).status_code == 200
        assert (visitor_of(value), training_of(value), SelectedView.read(value)) == ("", "", SelectedView())
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../app.py", "http://192.0.2.1/a.zip", "", "a\0b", "/" + "a" * 5000, 3]
)
def test_a_file_that_was_not_sent_is_not_read(tab: Tab, path: str | int, capfd) -> None:
    for files in ([path], path, [{"path": path, "meta": {"_type": "gradio.FileData"}}]):
        answer = tab.fire("vx-step-images", "unpack", files=files)
        assert answer.status_code in (404, 422)
        assert list(answer.json()) == ["error"]
    assert capfd.readouterr().err == ""


def test_an_event_that_has_nothing_to_stand_on_says_why(tab: Tab, capfd) -> None:
    """No picture is open yet: a room asks for what it cannot have."""
    answer = tab.fire("vx-plain-canvas", "choose_block", to=0)
    assert (answer.status_code, answer.json()["title"]) == (422, "This did not work")
    assert answer.json()["error"].startswith("This image is no longer here.")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("image", "at_once", "reason", "status"),
    [
        ("scene_mug", 8, None, 200),
        ("scene_nosuch", 8, None, 422),
        ("scene_gear", 0, None, 429),
        ("scene_mug", 8, ZeroDivisionError, 500),
    ],
)
def test_a_script_knows_by_the_status_whose_fault_it_is(
    client: httpx.Client, config, monkeypatch, image: str, at_once: int, reason: type | None, status: int
) -> None:
    monkeypatch.setattr(turns, "EACH", at_once)
    if reason:
        monkeypatch.setattr(explaining, "image_id", reason)
    predict = next(one for one in config["dependencies"] if one["api_name"] == "predict")
    data = [image, "scenes_vit_patch16_192", 5, "crop", "", "", "en"]
    body = {"data": data, "fn_index": predict["id"], "session_hash": "script"}
    answer = client.post("/gradio_api/run/predict", json=body)
    assert (answer.status_code, "error" in answer.json()) == (status, status != 200)


CALLS = [
    ("call/nosuch", {"data": []}, 404, "There is no endpoint of this name. There are models, "),
    ("call/v2/nosuch", {}, 404, "There is no endpoint of this name. There are models, "),
    ("call/models", {"data": []}, 422, "models takes 1 values in `data`: language."),
    ("call/models", {"data": "en"}, 422, "models takes 1 values in `data`: language."),
    ("call/v2/models", {"tongue": "en"}, 422, "models takes language"),
    ("call/v2/models", ["en"], 400, "This must be a JSON object"),
]


@pytest.mark.parametrize(("address", "body", "status", "says"), CALLS)
def test_a_call_that_cannot_be_is_a_sentence(
    client: httpx.Client, address, body, status: int, says: str, capfd
) -> None:
    answer = client.post(f"/gradio_api/{address}", json=body)
    assert (answer.status_code, answer.json()["error"].startswith(says)) == (status, True)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "file", [{"path": "/etc/passwd"}, {"path": "http://127.0.0.1/a"}, {"path": "\0"}, {"path": "a", "meta": 1}]
)
@pytest.mark.parametrize("name", ["image", "settings", "view"])
def test_a_file_that_was_not_sent_is_no_argument(client: httpx.Client, file: dict[str, Any], name: str, capfd) -> None:
    """gradio looks for files anywhere in the data, and ends in a traceback for files that are not its own."""
    body = {"image": "scene_mug", "view": "attention_map", name: {"meta": {"_type": "gradio.FileData"}, **file}}
    event = client.post("/gradio_api/call/v2/explain", json=body).json()["event_id"]
    answer = client.get(f"/gradio_api/call/v2/explain/{event}").text
    message = json.loads(answer.removeprefix("event: error\ndata: "))["error"]
    assert message.endswith(".")
    assert "went wrong" not in message
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "address", ["queue/data?session_hash=nobodys", "queue/data", "call/models/nobodys", "call/v2/models/a"]
)
def test_nobody_hears_what_was_not_asked(client: httpx.Client, address: str) -> None:
    assert client.get(f"/gradio_api/{address}").status_code == 404


@pytest.mark.parametrize(
    "form", [{"files": {"files": (None, "text")}}, {"content": b"text"}, {"files": {"files": ("..", b"")}}]
)
def test_a_form_without_a_file_is_a_sentence(client: httpx.Client, form: dict[str, Any], capfd) -> None:
    answer = client.post("/gradio_api/upload?upload_id=1", **form)
    assert (answer.status_code, "no file" in answer.json()["error"]) == (422, True)
    assert capfd.readouterr().err == ""


def test_nobody_sees_anothers_trainings(client: httpx.Client, config, folders: Path) -> None:
    run = "c" * 32
    folder = folders / "runs" / ANNA / run
    folder.mkdir(parents=True)
    CONFIG.write(folder, JobConfig("annas-images", "scenes_vit_patch16_192", (Candidate("linear"),)))
    seen = {}
    for visitor in (ANNA, BEN, ""):
        tab = Tab(client, config, sender="192.0.2.20").open()
        tab.say(json.dumps({"visitor": visitor, "run": ""}))
        reopen = tab.handler("vx-training-history", "reopen")
        tab.send(reopen, event_data={"run": run if visitor != BEN else f"../{ANNA}/{run}"})
        looked = [tab.send(handler).text for handler in tab.after(reopen)]
        seen[visitor] = any("annas-images" in text for text in looked)
    assert seen == {ANNA: True, BEN: False, "": False}


# ------------------------------------------------------------------------------------------------ what is kept


def test_files_go_by_age_and_the_oldest_make_room(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path, most=250)
    for name, age in (("left/by a killed server", 3 * 3600), ("third/a", 300), ("second/a", 200), ("first/a", 100)):
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(100))
        os.utime(path, (time.time() - age,) * 2)
    (tmp_path / "files" / "empty").mkdir()
    os.utime(tmp_path / "files" / "empty", (0, 0))
    folder.sweep()
    assert sorted(path.name for path in (tmp_path / "files").iterdir()) == ["first", "left", "second", "third"], (
        "just emptied"
    )
    assert sorted(path.parent.name for path in tmp_path.rglob("a")) == ["first", "second"]
    assert folder.held == FolderUsage(files=2, size=200)
    assert not folder.is_full(300)
    folder.take(100)
    assert folder.is_full(300)


def test_a_file_that_is_used_during_a_sweep_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page asks for an old file again after the sweep has listed it."""
    asked, forgotten = (tmp_path / "files" / name / "image.png" for name in ("asked", "forgotten"))
    for path in (asked, forgotten):
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(100))
        os.utime(path, (time.time() - 3 * 3600,) * 2)
    listing = cache_folder.files_in

    def listed_then_asked(folder: Path) -> list[tuple[float, int, str]]:
        files = list(listing(folder))
        os.utime(asked)
        return files

    monkeypatch.setattr(cache_folder, "files_in", listed_then_asked)
    folder = CacheFolder(tmp_path, most=1000)
    folder.sweep()
    assert (asked.exists(), forgotten.exists()) == (True, False)
    assert folder.held == FolderUsage(files=1, size=100)


def test_a_folder_of_somebody_else_is_not_swept(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours").symlink_to(tmp_path / "theirs")
    with pytest.raises(PermissionError):
        CacheFolder(tmp_path / "ours", most=1).make()


def stored_folder(places: UserStorage, visitor: str, name: str, days: float, data: str = "somewhere") -> Path:
    """Store 100,000 bytes that were last used some days ago: a training, or images or a model."""
    folder = places.of(visitor) / name
    folder.mkdir(parents=True)
    (folder / "content").write_bytes(bytes(100_000))
    if not name.startswith(("data-", "files-")):
        CONFIG.write(folder, JobConfig(data, "vit", (Candidate("linear"),)))
    for path in (*folder.iterdir(), folder):
        os.utime(path, (time.time() - days * 24 * 3600,) * 2)
    return folder


def test_what_visitors_keep_goes_in_time_and_the_oldest_make_room(tmp_path: Path) -> None:
    places = UserStorage(tmp_path, hosted=True)
    images = stored_folder(places, ANNA, "data-1", days=20)
    trained = stored_folder(places, ANNA, "trained", days=3, data=str(images / "pets"))
    old, unused = stored_folder(places, ANNA, "old", days=20), stored_folder(places, BEN, "data-2", days=2)
    model, today = stored_folder(places, BEN, "files-1", days=10), stored_folder(places, BEN, "today", days=0)
    stored = StorageLimits(places, Settings(keep_days=14, runs_megabytes=0))
    stored.sweep()
    assert [path.exists() for path in (images, trained, old, unused, model, today)] == [1, 1, 0, 0, 1, 1]
    assert stored.held.files == 3
    StorageLimits(places, Settings(keep_days=14, runs_megabytes=1)).sweep()
    assert model.exists(), "there is room for all"
    (today / "more").write_bytes(bytes(800_000))
    StorageLimits(places, Settings(keep_days=14, runs_megabytes=1)).sweep()
    assert [path.exists() for path in (images, trained, model, today)] == [1, 0, 0, 1]


@pytest.mark.parametrize("most", ["visitor_megabytes", "runs_megabytes"])
def test_a_visitor_at_the_storage_limit_gets_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str
) -> None:
    places = UserStorage(tmp_path, hosted=True)
    (stored_folder(places, ANNA, "training", days=0) / "more").write_bytes(bytes(1_000_000))
    bounds = {"visitor_megabytes": 0, "runs_megabytes": 0, most: 2}
    monkeypatch.setattr(storing, "settings", lambda: Settings(**bounds))
    check_room(places, ANNA)
    monkeypatch.setattr(storing, "settings", lambda: Settings(**{**bounds, most: 1}))
    with pytest.raises(JobError, match="1 MB"):
        check_room(places, ANNA)
    if most == "visitor_megabytes":
        check_room(places, BEN)
