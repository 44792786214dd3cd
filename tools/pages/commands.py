"""The command reference, made from the commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pairlearn.cli.app import COMMANDS, load_command


def page() -> str:
    """Every command with its arguments and options, in the order of `pairlearn --help`."""
    head = (
        "# Commands\n\nMade from the commands themselves. `pairlearn COMMAND --help` shows the same in a terminal; "
        "[data formats](../data-formats.md) says which column is what, and what all commands have in common.\n"
    )
    return head + "".join(text for name in COMMANDS for text in _command(name))


def _command(name: str) -> Iterator[str]:
    command = load_command(name)
    yield f"\n## pairlearn {name} {{ #{name} }}\n\n{_told(command.help or COMMANDS[name].help)}\n"
    yield f"\n```sh\n{COMMANDS[name].example}\n```\n"
    steps: dict[str, Any] = getattr(command, "commands", {})
    if not steps:
        yield from _parameters(name, command)
    for step, inner in steps.items():
        yield f"\n### pairlearn {name} {step} {{ #{name}-{step} }}\n\n{_told(inner.help or '')}\n"
        yield from _parameters(f"{name} {step}", inner)


def _parameters(words: str, command: Any) -> Iterator[str]:
    shown = [each for each in command.params if not getattr(each, "hidden", False) and each.name != "help"]
    given = [each for each in shown if each.param_type_name == "argument"]
    called = " ".join(_place(each) for each in given)
    yield f"\n```text\npairlearn {words} {called} [OPTIONS]\n```\n".replace("  ", " ")
    yield "\n| | what | default |\n|---|---|---|\n"
    for each in shown:
        name = _place(each) if each in given else ", ".join((*each.opts, *each.secondary_opts))
        yield f"| `{name}` | {_cell(each.help or '')} | {_default(each)} |\n"


def _place(argument: Any) -> str:
    name = argument.name.upper()
    return name if argument.required else f"[{name}]"


def _default(parameter: Any) -> str:
    value = parameter.default
    if parameter.required:
        return "needed"
    if callable(value) or value in (None, False, "", [], ()):
        return ""
    return f"`{_cell(', '.join(map(str, value)) if isinstance(value, list | tuple) else str(value))}`"


def _cell(text: str) -> str:
    return " ".join(_told(text).split()).replace("|", "\\|")


def _told(text: str) -> str:
    """Help as Markdown: brackets of Rich and marks of Click taken out."""
    return text.replace("\b", "").replace("\\[", "[").strip()
