"""Every message that pairlearn raises or warns with, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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


def messages() -> list[Message]:
    """All of them, in the order of their files; each once per file."""
    found = (message for path in sorted(SOURCE.rglob("*.py")) for message in _in(path))
    return list(dict.fromkeys(found))


def _in(path: Path) -> Iterator[Message]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    where = path.relative_to(SOURCE).as_posix()
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        kind = getattr(call.func, "id", getattr(call.func, "attr", ""))
        if not kind.endswith(("Error", "warn_user")):
            continue
        for argument in call.args[:1]:
            text = " ".join(_text(argument).split())
            if len(text.replace("…", " ").split()) >= LEAST:
                yield Message(text, "warning" if kind == "warn_user" else kind, where)


def _text(node: ast.expr) -> str:
    """What an expression says, with … for all that is known only when it is raised."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return "…"


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
