"""A hosted page and those who mean it no good: each attempt ends with a status and a sentence, and the page goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from starlette.applications import Starlette

from tests.app import run_apart
from vitexplorer.settings import settings
from vitexplorer.ui import application
from vitexplorer.ui.engine import Engine
from vitexplorer.ui.hosting.listening import address_of, listen, server

SETTINGS = {"VIT_HOSTED": "1", "VIT_PORT": "0", "VIT_HOSTS": "vit.example, *.vit.example"}


async def built() -> Starlette:
    """The app, made where a loop is running: gradio would make one for each of its locks and leave them open."""
    return application(settings(), Engine(settings()))


@contextmanager
def hosted(**environment: str) -> Iterator[str]:
    """The page in this process as `python app.py` serves it; gives its address."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environment.items():
            patched.setenv(name, value)
        settings.cache_clear()
        opened = threading.Event()
        with listen(settings()) as listening:
            serving = server(run_apart(built()), settings(), opened.set)
            thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]})
            thread.start()
            assert opened.wait(60)
            yield address_of(listening)
            serving.should_exit = True
            thread.join()
    settings.cache_clear()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with hosted(**SETTINGS, VIT_RUNS_FOLDER=str(tmp_path_factory.mktemp("runs"))) as address:
        yield address


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    """Somebody with a command line. Whatever they tried, the page is still there."""
    with httpx.Client(base_url=url, timeout=60) as asking:
        yield asking
        assert asking.get("/").status_code == 200


# ------------------------------------------------------------------------------------------------ who asks


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost:1", "[::1]:7860", "vit.example", "VIT.example:443", "a.vit.example"]
)
def test_names_of_the_page_are_known(client: httpx.Client, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "vit.example.evil.example", "avit.example", "192.0.2.1", "[", ""])
@pytest.mark.parametrize("header", ["host", "x-forwarded-host"])
def test_a_name_that_is_not_the_pages_is_refused(client: httpx.Client, header: str, host: str) -> None:
    if (header, host) == ("x-forwarded-host", ""):
        return  # says nothing
    answer = client.get("/", headers={header: host, "accept-language": "zh"})
    assert answer.status_code == 421
    assert "VIT_HOSTS" in answer.json()["error"]
    assert "管理员" in answer.json()["error"]


FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:1"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_page_of_a_stranger_changes_nothing(client: httpx.Client, headers: dict[str, str]) -> None:
    event = client.post("/gradio_api/run/predict", json={"data": [], "fn_index": 0}, headers=headers)
    upload = client.post("/gradio_api/upload", files={"files": ("a.png", b"picture")}, headers=headers)
    picture = client.post("/picture", content=b"", headers={**headers, "content-type": "application/octet-stream"})
    assert [answer.status_code for answer in (event, upload, picture)] == [403] * 3
    assert "VIT_ORIGINS" in event.json()["error"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_page_of_a_stranger_may_not_read(client: httpx.Client, origin: str) -> None:
    asked = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
    }
    answers = [
        client.options("/gradio_api/queue/join", headers=asked),
        client.get("/config", headers={"origin": origin}),
    ]
    for answer in answers:
        assert not {name for name in answer.headers if name.startswith("access-control-allow-") and origin in name}
        assert "access-control-allow-origin" not in answer.headers
        assert "access-control-allow-credentials" not in answer.headers


def test_the_page_itself_may(client: httpx.Client, url: str) -> None:
    for headers in ({"origin": url.rstrip("/")}, {"sec-fetch-site": "same-origin"}):
        answer = client.post(
            "/picture", content=b"no picture", headers={**headers, "content-type": "application/octet-stream"}
        )
        assert answer.status_code == 422


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


def test_every_answer_tells_a_browser_what_not_to_do(client: httpx.Client) -> None:
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
