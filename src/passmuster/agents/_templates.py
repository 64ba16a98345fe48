"""Texts with fields in braces, such as `{query}`, that are filled in for each run.

`{{` and `}}` are braces. Braces around anything that is no name are left as they are, so that JSON can be written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from passmuster._problems import did_you_mean

FIELDS = {
    "query": "what the user says in this turn",
    "session": "an id that all turns of a run share",
    "scenario": "the id of the scenario",
    "run": "which repetition this is, from 1",
    "turn": "which turn this is, from 1",
    "messages": "the conversation so far, as a list of messages",
}
_ENVIRONMENT = "env."
_PART = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_.]*)\}")


class Template(Struct, frozen=True):
    """A text with fields."""

    text: str

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its fields, in order."""
        return tuple(found[1] for found in _PART.finditer(self.text) if found[1])

    @property
    def variables(self) -> Iterator[str]:
        """The variables of the environment that it needs."""
        return (name.removeprefix(_ENVIRONMENT) for name in self.fields if name.startswith(_ENVIRONMENT))

    @property
    def is_messages(self) -> bool:
        """Whether it stands for the list of messages, and not for a text."""
        return self.text == "{messages}"

    def fill(self, values: Mapping[str, str]) -> str:
        """The text for one turn. Variables of the environment are read now, and kept nowhere."""

        def part(found: re.Match[str]) -> str:
            name = found[1]
            if not name:
                return found[0][0]
            if name.startswith(_ENVIRONMENT):
                return os.environ.get(name.removeprefix(_ENVIRONMENT), "")
            return values[name]

        return _PART.sub(part, self.text)


def why_bad_template(text: str, allowed: tuple[str, ...]) -> str | None:
    """What is wrong with the fields of a text, of which only these may stand in it."""
    for name in Template(text).fields:
        if name.startswith(_ENVIRONMENT):
            variable = name.removeprefix(_ENVIRONMENT)
            if "env" not in allowed:
                return f"'{{{name}}}' cannot stand here: the program has the environment itself"
            if not variable or "." in variable:
                return f"'{{{name}}}' names no variable of the environment; write '{{env.NAME}}'"
        elif name not in allowed:
            known = [field for field in allowed if field != "env"]
            hint = did_you_mean(name, known) or f"; known: {', '.join(f'{{{one}}}' for one in known)}"
            return f"unknown field '{{{name}}}'{hint}; write '{{{{' and '}}}}' for braces"
    return None


def fill_value(value: Any, values: Mapping[str, str], messages: list[dict[str, Any]]) -> Any:
    """A JSON value with the fields in its texts filled in; the text `{messages}` becomes the list itself."""
    if isinstance(value, Template):
        return messages if value.is_messages else value.fill(values)
    if isinstance(value, dict):
        return {key: fill_value(inner, values, messages) for key, inner in value.items()}
    if isinstance(value, list):
        return [fill_value(inner, values, messages) for inner in value]
    return value


def templates_in(value: Any) -> Iterator[Template]:
    """The templates in a JSON value."""
    if isinstance(value, Template):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from templates_in(inner)
