"""Static files of the page: modules and the style sheet, and nothing else below the page's folder."""

from __future__ import annotations

import json
import re
from graphlib import TopologicalSorter
from pathlib import Path

import gradio as gr
import httpx
import pytest
from starlette.applications import Starlette

import vitexplorer.ui
from tests.helpers.waiting import now
from vitexplorer.core.settings import Settings
from vitexplorer.models.examples import examples
from vitexplorer.service.engine import Engine
from vitexplorer.ui.kit.served_files import cached_file
from vitexplorer.ui.kit.static_responses import example_url
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.page import build_page
from vitexplorer.ui.server.script import joined, late_part, mapped
from vitexplorer.ui.server.static_files import SERVING, page_head, static_files, version

PAGE_SHEETS = ("page.css", "keyframes.css", "theme.css")
"""not of a component"""


def fetch(path: str, encodings: str = "gzip, br") -> httpx.Response:
    async def answer() -> httpx.Response:
        app = Starlette(routes=SERVING["routes"], middleware=SERVING["middleware"])
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://page") as client:
            return await client.get(path, headers={"accept-encoding": encodings})

    return now(answer())


@pytest.mark.parametrize(("name", "kind"), [("script.js", "text/javascript"), ("style.css", "text/css")])
def test_files_are_cached_for_good_under_the_hash_of_all(name: str, kind: str) -> None:
    answer = fetch(f"/modules/{version()}/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.content == static_files()[name]
    assert answer.headers["content-encoding"] == "br"
    zipped = fetch(f"/modules/{version()}/{name}", "gzip, deflate")
    assert (zipped.headers["content-encoding"], zipped.content) == ("gzip", static_files()[name])
    plain = fetch(f"/modules/{version()}/{name}", "identity")
    assert "content-encoding" not in plain.headers
    assert plain.content == static_files()[name]
    assert plain.headers["vary"] == answer.headers["vary"] == "accept-encoding"


def test_gradios_own_files_are_cached_for_good_too() -> None:
    folder = Path(gr.__file__).parent / "templates" / "frontend" / "assets"
    for file in (next(folder.glob("index-*.js")), next(folder.glob("*.css"))):
        answer = fetch(f"/assets/{file.name}")
        assert answer.content == file.read_bytes()
        assert answer.headers["content-encoding"] == "br"
        assert "immutable" in answer.headers["cache-control"]
    (library,) = re.findall(r'data-plotly="\.([^"]+)"', page_head("en"))
    assert b"Plotly" in fetch(library).content
    assert fetch("/assets/nosuch.js").status_code == fetch("/assets/..%2f..%2f..%2froutes.py").status_code == 404


def test_a_made_page_is_as_it_was_made_and_apart_from_the_others(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    made = b"<html><head></head><body onload='print()'></body></html>"
    answer = fetch(cached_file(made, "handout.html").url.removeprefix("."))
    assert answer.content == made
    policy = answer.headers["content-security-policy"]
    assert "sandbox allow-scripts allow-modals" in policy
    assert "allow-same-origin" not in policy


def test_a_made_file_and_an_example_are_cached_for_good_and_an_upload_is_not_reached(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    made, example = cached_file(b"1,2", "a b.csv"), next(iter(examples().values()))
    for address, content in ((made.url, b"1,2"), (example_url(example), example.path.read_bytes())):
        answer = fetch(address.removeprefix("."))
        assert answer.content == content
        assert "immutable" in answer.headers["cache-control"]
    sent = tmp_path / ("0" * 64) / "picture.png"
    sent.parent.mkdir()
    sent.write_bytes(b"a visitor's")
    digest = made.url.split("/")[2]
    for path in (f"{'0' * 64}/picture.png", f"{digest}/nosuch", f"{digest}/..", f"{digest}/..%2f..%2fpicture.png"):
        assert fetch(f"/files/{path}").status_code == 404
    made.path.unlink()
    assert fetch(made.url.removeprefix(".")).status_code == 404


@pytest.mark.parametrize(
    "path", ["0000000000000000/kit/dom.js", "{}/theme.py", "{}/kit/widget.py", "{}/%2e%2e/settings.py", "{}/"]
)
def test_nothing_else_is_served_and_no_other_version(path: str) -> None:
    answer = fetch(f"/modules/{path.format(version())}")
    assert answer.status_code == 404
    assert "immutable" not in answer.headers.get("cache-control", "")


ONE = """\
// One.
import {two as second, three} from '../kit/two.js';
export async function one(x) {
  return (await import(`./${x}.js`)).second(three);
}
"""
TWO = """\
/** @type {import('./x.js').X} */
export const two = 2;
export class three {}
"""


def test_modules_are_joined_line_by_line() -> None:
    sources = {"a/one.js": ONE, "kit/two.js": TWO}
    lines = joined(sources, "a/one.js", "kit/two.js").splitlines()
    at = lines.index("makers['a/one.js'] = (__import) => {")
    assert lines[at + 1 : at + 9] == [
        "// One.",
        "const {two: second, three} = module('kit/two.js');",
        "async function one(x) {",
        "  return (await __import(`./${x}.js`)).second(three);",
        "}",
        "",
        "return {one};",
        "};",
    ]
    assert lines[-2:] == ["module('a/one.js');", "module('kit/two.js');"]


def test_source_maps_name_the_modules_of_a_script() -> None:
    sources = {"a/one.js": ONE, "kit/two.js": TWO}
    for script in (joined(sources, "a/one.js"), late_part(sources, ["kit/two.js", "a/one.js"])):
        files = mapped("x/script.js", script, sources)
        lines = files["x/script.js"].splitlines()
        assert lines[-1] == "//# sourceMappingURL=script.js.map"
        sections = json.loads(files["x/script.js.map"])["sections"]
        assert len(sections) == 2
        for section in sections:
            (path,) = section["map"]["sources"]
            assert lines[section["offset"]["line"]] == sources[path].splitlines()[0]
            assert section["map"]["mappings"].count(";") == sources[path].count("\n")


def test_every_module_is_in_one_script() -> None:
    """A room's part holds modules of this room alone, and none that runs with the page."""
    files = {name: text.decode() for name, text in static_files().items() if name.endswith(".js")}
    scripts = {name for name in files if name == "script.js" or re.fullmatch(r"rooms/\w+\.js", name)}
    found = [(path, name) for name in scripts for path in re.findall(r"^makers\['(.+)'\]", files[name], re.MULTILINE)]
    ways = dict(found)
    assert len(found) == len(ways)
    assert ways.keys() == {name for name in files.keys() - scripts if "glossary_" not in name}
    for path, name in ways.items():
        assert name == "script.js" or path.startswith(name.removesuffix(".js") + "/")
    assert {"rooms/folder.js", "rooms/finetune.js"} < set(ways.values())
    assert ways["rooms/flow/room.js"] == "script.js"


@pytest.mark.parametrize(
    "form",
    [
        "export default 1;",
        "export {two};",
        "export let two = 2;",
        "export * from './two.js';",
        "import two from './two.js';",
        "import * as two from './two.js';",
        "import './two.js';",
        "import {two} from 'two';",
        "const two = import('./two.js');",
        "import {four} from './two.js';",
    ],
)
def test_another_form_of_import_or_export_is_refused(form: str) -> None:
    with pytest.raises(ValueError, match=r"kit/one\.js imports"):
        joined({"kit/one.js": f"// One.\n{form}\n", "kit/two.js": TWO}, "kit/one.js")


def test_no_module_waits_for_itself() -> None:
    imports: dict[str, list[str]] = {}
    for line in static_files()["script.js"].decode().splitlines():
        if begun := re.match(r"makers\['(.+)'\]", line):
            imports[begun[1]] = []
        elif taken := re.match(r"(?:const|}).* = module\('(.+)'\);", line):
            imports[next(reversed(imports))].append(taken[1])
    TopologicalSorter(imports).prepare()


def test_the_page_fetches_one_script_and_one_sheet_and_no_icon() -> None:
    head = page_head("en")
    assert re.findall(r'<script [^>]*src="\./modules/\w+/([^"]+)">', head) == ["script.js"]
    assert head.count('rel="stylesheet"') == 1
    assert '<link rel="icon" href="data:image/svg+xml,' in head
    assert "未能加载" in page_head("zh")


def test_every_widget_has_a_module_that_mounts_it() -> None:
    for widget in Widget.__subclasses__():
        source = static_files()[widget.module_path()].decode()
        assert "export function mount(" in source
        sent = set(re.findall(r"\btrigger\('(\w+)'", source))
        assert sent <= set(widget.sends), widget


async def test_the_configuration_is_small_and_scripts_are_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit what gradio sends with every page: bytes, and kinds of components, each two to eleven files more."""
    monkeypatch.setattr("gradio.context.Context.id", 0)  # as in a server, which builds its page first of all
    whole = build_page(Settings(), Engine(Settings()))[0].get_config_file()
    for part in ("components", "dependencies"):  # the endpoints are a page of their own, which is not sent
        whole[part] = [one for one in whole[part] if one["id"] in whole["page"][""][part]]
    assert len(json.dumps(whole, default=str).encode()) < 223_000
    kinds = {"html", "state", "column", "tabs", "tabitem", "accordion"}
    assert {component["type"] for component in whole["components"]} == kinds
    for component in whole["components"]:
        assert len(component["props"].get("js_on_load") or "") < 1000
        assert not component["props"].get("css_template")


def outer_selectors(sheet: str) -> list[str]:
    """Return the selectors of a style sheet that are nested in no other rule, whatever conditions they are under."""
    result, around = [], []
    for head, brace in re.findall(r"([^{};]*)([{};])", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)):
        if brace == "}":
            around.pop()
        elif brace == "{":
            if all(outer.startswith("@") for outer in around) and not head.strip().startswith("@"):
                result += [selector.strip() for selector in re.split(r",(?![^()]*\))", head)]
            around.append(head.strip())
    return result


def test_every_selector_begins_with_the_class_of_its_component() -> None:
    """One sheet holds all styles; only the page's own part may style gradio's elements."""
    assert outer_selectors("@media x { .a, .b:is(c, d) { e: f; & g { h: i } } } .j { k: l }") == [
        ".a",
        ".b:is(c, d)",
        ".j",
    ]
    folder = Path(vitexplorer.ui.__file__).parent
    for path in [path for path in folder.rglob("*.css") if path.name not in PAGE_SHEETS]:
        selectors = outer_selectors(path.read_text(encoding="utf-8"))
        assert [
            one for one in selectors if not one.removeprefix(".dark ").removeprefix("&").startswith(".vx-")
        ] == [], path.name
