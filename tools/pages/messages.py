"""Every message that pairlearn raises or warns with, read from its source."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "src" / "pairlearn"
LEAST = 3
"""Words of a message that is worth a line."""


class Message(NamedTuple):
    """A message with … for what is filled in, the error or warning that carries it, and the file that has it."""

    text: str
    kind: str
    where: str


Names = Mapping[str, Sequence[ast.expr]]
"""What a name may stand for: the values that it is given; "name()", all that a function of this name returns."""
DEEPEST = 4
"""Names that stand for names, at most."""


def messages() -> list[Message]:
    """All of them, in the order of their files; each once per file."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    own = {path: _names(tree) for path, tree in trees.items()}
    homes = Counter(name for names in own.values() for name in names)
    elsewhere = {name: found for names in own.values() for name, found in names.items() if homes[name] == 1}
    found = (message for path, tree in trees.items() for message in _in(path, tree, {**elsewhere, **own[path]}))
    return list(dict.fromkeys(found))


def _names(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What the names of a file stand for."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.FunctionDef):
            returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value]
            found.setdefault(f"{node.name}()", []).extend(returned)
            for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
                found.setdefault(parameter.arg, []).extend([default] if default else [])
    return found


def _in(path: Path, tree: ast.Module, names: Names) -> Iterator[Message]:
    where = path.relative_to(SOURCE).as_posix()
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        kind = getattr(call.func, "id", getattr(call.func, "attr", ""))
        if not kind.endswith(("Error", "warn_user")):
            continue
        for text in (each for argument in call.args[:1] for each in _texts(argument, names)):
            words = re.sub("…+", "…", " ".join(text.split()))
            if len(words.replace("…", " ").split()) >= LEAST:
                yield Message(words, "warning" if kind == "warn_user" else kind, where)


def _texts(node: ast.expr, names: Names, depth: int = 0) -> list[str]:
    """Everything that an expression may say, with … for all that is known only when it is raised.

    >>> [expression] = ast.parse('"no " + word.format(3) + (".", "!")[k]').body
    >>> _texts(expression.value, {"word": [ast.Constant("more than {}")]})
    ['no more than ……']
    """
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return _filled(parts, names, depth)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [a + b for a in _texts(left, names, depth) for b in _texts(right, names, depth)]
        case ast.IfExp(body=yes, orelse=no):
            return _texts(yes, names, depth) + _texts(no, names, depth)
        case ast.Dict(values=values):
            return [text for value in values for text in _texts(value, names, depth)]
        case ast.Call(func=ast.Attribute(value=text, attr="format")):
            return [re.sub(r"\{[^{}]*\}", "…", each) for each in _texts(text, names, depth)]
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[_, default]):
            return _named(name, names, depth) + _texts(default, names, depth)
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return _named(f"{name}()", names, depth)
        case ast.Name(id=name):
            return _named(name, names, depth)
    return ["…"]


def _named(name: str, names: Names, depth: int) -> list[str]:
    """What a name may say."""
    known = names.get(name, []) if depth < DEEPEST else []
    return [text for value in known for text in _texts(value, names, depth + 1)] or ["…"]


def _filled(parts: Sequence[ast.expr], names: Names, depth: int) -> list[str]:
    """What an f-string may say; what is filled in is looked at only where there is little around it."""
    around = sum(len(part.value.split()) for part in parts if isinstance(part, ast.Constant))
    inner = [
        _texts(part.value, names if around < LEAST else {}, depth)
        if isinstance(part, ast.FormattedValue)
        else _texts(part, {})
        for part in parts
    ]
    return ["".join(chosen) for chosen in product(*inner)]


def page() -> str:
    """The list as a page, one section per package."""
    lines = [
        "# All messages\n\nRead from the source by the build, with … for what is filled in, so that a search finds "
        "them. Every message says what to do; [what went wrong?](../troubleshooting.md) explains those that "
        "people meet most.\n"
    ]
    room = ""
    for message in messages():
        here = message.where.split("/")[0].removesuffix(".py")
        if here != room:
            lines.append(f"\n## {here}\n")
            room = here
        lines.append(f"* {_plain(message.text)} <br>`{message.kind}` in `{message.where}`")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """As text, whatever Markdown would make of it."""
    for sign in "\\`*_{}[]<>#|$":
        text = text.replace(sign, f"\\{sign}" if sign != "<" else "&lt;")
    return text
