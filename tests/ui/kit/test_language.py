"""The language of a page, from its address or the browser."""

from __future__ import annotations

import pytest

from vitexplorer.ui.kit.language import LanguageMiddleware, language_of, with_language


@pytest.mark.parametrize(
    ("query", "accept", "language"),
    [
        ("lang=zh", "en", "zh"),
        ("lang=en", "zh-CN", "en"),
        ("", "zh-CN,en;q=0.5", "zh"),
        ("lang=xx", "zh", "en"),
        ("", "", "en"),
    ],
)
def test_the_address_decides_the_language_before_the_browser(query: str, accept: str, language: str) -> None:
    assert language_of(query, accept) == language


async def test_a_page_carries_its_language_and_is_made_once_for_all_who_reach_it_under_one_name() -> None:
    made = []

    async def app(scope, receive, send):
        made.append(scope)
        headers = [(b"content-type", b"text/html"), (b"content-length", b"26")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"<html><head>", "more_body": True})
        await send({"type": "http.response.body", "body": "</head>图</html>".encode()})

    pages = LanguageMiddleware(app)

    async def fetched(query: bytes, host: bytes) -> bytes:
        sent: list[dict] = []

        async def send(message: dict) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "scheme": "http", "path": "/", "headers": [(b"host", host)]}
        await pages({**scope, "query_string": query}, None, send)
        start, body = sent
        assert len(start["headers"]) == 4
        start["headers"].append((b"x-of", b"one visitor"))
        assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()
        return body["body"]

    chinese = await fetched(b"lang=zh", b"a")
    assert b'<html lang="zh-CN">' in chinese
    assert await fetched(b"lang=zh&room=flow", b"a") == chinese
    assert len(made) == 1
    assert await fetched(b"", b"a") != chinese == await fetched(b"lang=zh", b"b")
    assert len(made) == 3


async def test_only_pages_are_rewritten() -> None:
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": b"<html><head>"})

    sent: list[dict] = []

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "scheme": "http", "path": "/", "query_string": b"lang=zh", "headers": []}
    await LanguageMiddleware(app)(scope, None, send)
    assert sent[1]["body"] == b"<html><head>"


def test_the_language_cannot_carry_a_script() -> None:
    assert language_of("lang=%27%3C/script%3E", "") == "en"
    assert with_language("<html><head>", "en").count("</script>") == 1
