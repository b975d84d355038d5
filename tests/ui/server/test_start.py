"""Errors before the server starts: one sentence, exit code 2."""

from __future__ import annotations

import socket

import pytest

from tests.helpers.tree import ROOT
from vitexplorer.core.settings import Settings
from vitexplorer.service import start_checks as starting
from vitexplorer.ui import main
from vitexplorer.ui.server.listening import address_of, listen


@pytest.fixture(autouse=True)
def _any_port(own_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIT_PORT", "0")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("VIT_MODEL", "nosuch", "Unknown model 'nosuch'"),
        ("VIT_MODEL", "vitexplorer/", "vitexplorer/ is a path, which the command line takes"),
        ("VIT_MODEL", "/no/such/model", "There is no file or folder /no/such/model here"),
        ("VIT_FIRST", "model=vit_tiny_patch16_244", "Did you mean 'vit_tiny_patch16_224'?"),
        ("VIT_FIRST", "image=scene_gaer", "Did you mean 'scene_gear'?"),
        ("VIT_RUNS_FOLDER", "/dev/null/runs", "Not a directory"),
        ("VIT_RUNS_FOLDER", "/proc", "name another folder"),
        ("VIT_HOST", "192.0.2.1", "cannot listen at 192.0.2.1"),
        ("VIT_HOST", "no such host", "choose an address with VIT_HOST"),
        ("VIT_SESSIONS", "99999999999999999999", "1000000000"),
        ("VIT_PAYLOAD_MEGABYTES", "inf", "VIT_PAYLOAD_MEGABYTES=inf"),
        ("VIT_PROXIES", "everybody", "VIT_PROXIES=everybody"),
        ("VIT_SESSION", "3", "There is VIT_SESSIONS."),
    ],
)
def test_what_cannot_be_is_one_sentence(monkeypatch, capsys, name: str, value: str, says: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        main()
    captured = capsys.readouterr()
    assert ended.value.code == 2
    assert (says in captured.err, captured.err.count("\n"), captured.out) == (True, 1, "")


def test_a_package_that_is_missing_is_named(monkeypatch, capsys) -> None:
    monkeypatch.setenv("VIT_MCP", "1")
    monkeypatch.setattr(starting, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        main()
    needed = (ROOT / "requirements-agents.txt").read_text(encoding="utf-8").splitlines()[-1]
    assert capsys.readouterr().err == (f"VIT_MCP=1 needs a package that is not installed: pip install '{needed}'.\n")


def test_a_port_in_use_is_one_sentence_in_the_language_of_the_installation(monkeypatch, capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("VIT_PORT", str(port))
        monkeypatch.setenv("VIT_LANGUAGE", "zh")
        with pytest.raises(SystemExit):
            main()
    assert (
        capsys.readouterr().err
        == f"127.0.0.1 的端口 {port} 已被占用：请停止占用它的程序，或用 VIT_PORT 选择其他端口。\n"
    )


@pytest.mark.parametrize(("host", "name"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "localhost")])
def test_the_address_is_one_that_a_browser_understands(host: str, name: str) -> None:
    with listen(Settings(host=host, port=0)) as listening:
        assert address_of(listening) == f"http://{name}:{listening.getsockname()[1]}/"


def test_what_is_written_goes_out_at_once() -> None:
    """An answer has two parts: with Nagle's algorithm, the second would wait for the browser's delayed ACK."""
    with (
        listen(Settings(host="127.0.0.1", port=0)) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as answering,
    ):
        assert answering.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
