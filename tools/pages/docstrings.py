"""Docstrings as Markdown, and the signatures of machines, whose constructors are made from a list of parameters."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import griffe

SECTION = re.compile(r"^(Parameters|Attributes|Examples)\n-{4,}\n", re.MULTILINE)
EXAMPLE = re.compile(r"^(>>> (?:.*\n)(?:(?!\s*\n).*\n?)*)", re.MULTILINE)
FIELD = re.compile(r"^(\w[\w, ]*?) : ", re.MULTILINE)


def as_markdown(text: str) -> str:
    r"""A docstring with its examples in fences, its fields as a list and its sections as bold words.

    >>> as_markdown("What it does.\n\nParameters\n----------\nC : box.")
    'What it does.\n\n\n**Parameters**\n\n* `C`: box.'
    >>> as_markdown("Examples\n--------\n>>> 1 + 1\n2")
    '**Examples**\n\n```pycon\n>>> 1 + 1\n2\n```'
    """
    parts = SECTION.split(text)
    head, rest = parts[0], zip(parts[1::2], parts[2::2], strict=True)
    told = [head, *(f"**{name}**\n\n{_fields(body) if name != 'Examples' else body}" for name, body in rest)]
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[1].rstrip()}\n```\n", "\n".join(told) + "\n").strip()


def _fields(body: str) -> str:
    """`name : words` as items of a list; lines that go on below stay with them."""
    return FIELD.sub(lambda found: f"* `{found[1]}`: ", body)


class Extension(griffe.Extension):
    """What is read from the source, made ready for the page."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Every docstring becomes Markdown."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """A class whose constructor is made when it is defined gets the one it has."""
        if "parameters" in cls.keywords:
            cls.set_member("__init__", _constructor(cls))


def _constructor(cls: griffe.Class) -> griffe.Function:
    found = getattr(import_module(cls.module.path), cls.name)
    kinds = {
        inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
        inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    }
    parameters = [
        griffe.Parameter(each.name, kind=kinds[each.kind], default=repr(each.default))
        for each in inspect.signature(found).parameters.values()
    ]
    return griffe.Function("__init__", parameters=griffe.Parameters(griffe.Parameter("self"), *parameters))
