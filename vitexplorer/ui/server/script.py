"""Bundles of the page's modules: one script instead of one request per module, and one more for each room.

A module keeps its lines and becomes a function that is called once, at its first import, so modules share state as
usual. Three forms are rewritten, and any other `import` or `export` is refused:

    import {a, b as c} from './x.js';    const {a, b: c} = module('kit/x.js');
    export function f() {}               function f() {}, which the function returns
    await import(`./${x}.js`)            await __import(`./${x}.js`)
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterable

_IMPORT = re.compile(r"^import (\{[^}]*\}) from '(\.[^']+)';$", re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|class) (\w+)", re.MULTILINE)
_DYNAMIC_IMPORT = re.compile(r"\bawait import\((?=`)")
_UNKNOWN_FORM = re.compile(r"^\s*(?:import|export)\b.*|^(?!\s*\*|.*(?:/\*\*|//)).*\bimport\(.*", re.MULTILINE)
"""Other imports and exports; type comments may contain `import(`"""
_MAKER = re.compile(r"makers\['(.+)'\] = ")

_HEAD = """\
const made = {};
export const makers = {};
export const module = (path) => (made[path] ??= makers[path]((other) => later(new URL(other, `page:/${path}`))));
export const fetched = async (path) => path in makers || import(`./${path.split('/', 2).join('/')}.js`);
const later = async ({pathname}) => (pathname.slice(1) in makers ? module(pathname.slice(1)) : import(`.${pathname}`));
"""
_LATE_HEAD = "import {makers, module} from '../script.js';\n"


def joined(sources: dict[str, str], *first: str, late: Collection[str] = ()) -> str:
    """Return one module that runs `first` and exports `module(path)`, which returns the exports of a module.

    Its export `fetched(path)` fetches the part with a module of `late`, which `module` can return only after that.

    Args:
        sources: every module by its path.
        first: paths of the modules that run at once, in this order.
        late: paths of the modules that are not in it.

    Raises:
        ValueError: for an unknown form of import or export, or an import of a name that is not exported.
    """
    runs = "".join(f"module('{path}');\n" for path in first)
    return _HEAD + _makers(sources, [path for path in sources if path not in late]) + runs


def late_part(sources: dict[str, str], paths: Iterable[str]) -> str:
    """Return a module that adds modules to `joined`; it is served one folder below, see `fetched`."""
    return _LATE_HEAD + _makers(sources, paths)


def _makers(sources: dict[str, str], paths: Iterable[str]) -> str:
    exported = {path: [name for _, name in _EXPORT.findall(source)] for path, source in sources.items()}
    return "".join(
        f"makers['{path}'] = (__import) => {{\n{_rewritten(path, sources[path], exported)}\n"
        f"return {{{', '.join(exported[path])}}};\n}};\n"
        for path in paths
    )


def enclosed(sources: dict[str, str]) -> str:
    """Return a function `modules()` as source; each call returns a `module(path)` with its own module instances."""
    inner = joined(sources, next(iter(sources))).replace("export const ", "const ")
    return f"const modules = () => {{\n{inner}\nreturn module;\n}};\n"


def needed(sources: dict[str, str], first: str) -> dict[str, str]:
    """Return a module and its direct and indirect static imports, the module last."""
    ordered: dict[str, str] = {}

    def add(path: str) -> None:
        for _, target in _IMPORT.findall(sources[path]):
            other = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            if other not in ordered:
                add(other)
        ordered[path] = sources[path]

    add(first)
    return ordered


def _rewritten(path: str, source: str, exported: dict[str, list[str]]) -> str:
    def as_binding(match: re.Match[str]) -> str:
        names = match[1]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2]))
        for name in re.findall(r"(\w+)(?: as \w+)?\s*[,}]", names):
            if name not in exported.get(target, []):
                raise ValueError(f"{path} imports {name} from {target}, which does not export it.")
        return f"const {names.replace(' as ', ': ')} = module('{target}');"

    body = _DYNAMIC_IMPORT.sub("await __import(", _EXPORT.sub(r"\1 \2", _IMPORT.sub(as_binding, source)))
    if other := _UNKNOWN_FORM.search(body):
        raise ValueError(f"{path} imports or exports in a form that script.py does not know: {other[0].strip()}")
    return body


def mapped(name: str, script: str, sources: dict[str, str]) -> dict[str, str]:
    """Return a script and its source map as files by path; by the map, browsers name modules and their lines.

    Args:
        name: path of the script.
        script: result of `joined` or `late_part`.
        sources: every module by its path.
    """
    sections = []
    for line, text in enumerate(script.splitlines()):
        if begun := _MAKER.match(text):
            lines = sources[begun[1]].count("\n") + 1
            line_map = {"version": 3, "sources": [begun[1]], "names": [], "mappings": "AAAA" + ";AACA" * (lines - 1)}
            sections.append({"offset": {"line": line + 1, "column": 0}, "map": line_map})
    file = f"{name}.map"
    return {
        name: f"{script}//# sourceMappingURL={posixpath.basename(file)}\n",
        file: json.dumps({"version": 3, "sections": sections}),
    }
