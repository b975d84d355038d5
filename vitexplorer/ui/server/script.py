"""The page's modules joined into one script, for each of them would be a request before the first picture.

A module keeps its lines and becomes a function, called once, when the first other module imports from it: what modules
share exists once. Three forms are rewritten, and any other `import` or `export` is refused:

    import {a, b as c} from './x.js';    const {a, b: c} = module('kit/x.js');
    export function f() {}               function f() {}, which the function returns
    await import(`./${x}.js`)            await __import(`./${x}.js`)
"""

from __future__ import annotations

import json
import posixpath
import re

_IMPORT = re.compile(r"^import (\{[^}]*\}) from '(\.[^']+)';$", re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|class) (\w+)", re.MULTILINE)
_LATER = re.compile(r"\bawait import\((?=`)")
_OTHER = re.compile(r"^\s*(?:import|export)\b.*|^(?!\s*\*|.*(?:/\*\*|//)).*\bimport\(.*", re.MULTILINE)
"""what none of them is; types in comments may say import"""

_MAPPED = "//# sourceMappingURL=script.js.map"
_HEAD = """\
const makers = {}, made = {};
export const module = (path) => (made[path] ??= makers[path]((other) => later(new URL(other, `page:/${path}`))));
const later = async ({pathname}) => (pathname.slice(1) in makers ? module(pathname.slice(1)) : import(`.${pathname}`));
"""


def joined(sources: dict[str, str], first: str) -> str:
    """One module that exports `module(path)`, what the one at a path exports, and runs the first.

    Raises ValueError for a form that is not known, and where a module imports what its source does not export.

    Args:
        sources: every module by its path.
        first: the path of the one that runs at once.
    """
    exported = {path: [name for _, name in _EXPORT.findall(source)] for path, source in sources.items()}
    parts = (
        f"makers['{path}'] = (__import) => {{\n{_rewritten(path, source, exported)}\n"
        f"return {{{', '.join(exported[path])}}};\n}};\n"
        for path, source in sources.items()
    )
    return "".join([_HEAD, *parts, f"module('{first}');\n{_MAPPED}\n"])


def enclosed(sources: dict[str, str]) -> str:
    """A function `modules()` that gives a `module(path)`: at each call modules of its own, that share nothing."""
    inner = joined(sources, first=next(iter(sources))).replace("export const module", "const module", 1)
    return f"const modules = () => {{\n{inner.replace(_MAPPED, '')}\nreturn module;\n}};\n"


def needed(sources: dict[str, str], first: str) -> dict[str, str]:
    """The modules that one imports, and what those import, itself last; not what is imported later, by `await`."""
    found: dict[str, str] = {}

    def take(path: str) -> None:
        for _, target in _IMPORT.findall(sources[path]):
            other = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            if other not in found:
                take(other)
        found[path] = sources[path]

    take(first)
    return found


def _rewritten(path: str, source: str, exported: dict[str, list[str]]) -> str:
    def taken(found: re.Match[str]) -> str:
        names, target = found[1], posixpath.normpath(posixpath.join(posixpath.dirname(path), found[2]))
        for name in re.findall(r"(\w+)(?: as \w+)?\s*[,}]", names):
            if name not in exported.get(target, []):
                raise ValueError(f"{path} imports {name} from {target}, which does not export it.")
        return f"const {names.replace(' as ', ': ')} = module('{target}');"

    body = _LATER.sub("await __import(", _EXPORT.sub(r"\1 \2", _IMPORT.sub(taken, source)))
    if other := _OTHER.search(body):
        raise ValueError(f"{path} imports or exports in a form that script.py does not know: {other[0].strip()}")
    return body


def source_map(sources: dict[str, str]) -> str:
    """Where the lines of `joined` come from, so that browsers name the modules and their lines."""
    line, sections = _HEAD.count("\n"), []
    for path, source in sources.items():
        lines = source.count("\n") + 1
        of_lines = {"version": 3, "sources": [path], "names": [], "mappings": "AAAA" + ";AACA" * (lines - 1)}
        sections.append({"offset": {"line": line + 1, "column": 0}, "map": of_lines})
        line += lines + 3
    return json.dumps({"version": 3, "sections": sections})
