"""`passmuster help`: what a word of a suite means."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from shutil import get_terminal_size

from passmuster import api, reports
from passmuster.cli._command_line import argument, cli_command
from passmuster.cli._help_text import help_lines
from passmuster.cli._printing import print_lines, refusing


@cli_command("help")
@argument("word", metavar="[WORD]")
def command(word: str | None) -> None:
    """Explain a check, rule, metric, key or format.

    Without WORD, list them all.

    Example:
      passmuster help max_tool_calls
    """
    from passmuster.cli._main import command as group  # late, for it imports this module

    if word is not None and word in group.commands:
        print_lines(help_lines(group.commands[word], f"passmuster {word}"))
        return
    with refusing():
        topics = api.explain_word(word) if word else None
    width = max(40, min(get_terminal_size((100, 24)).columns, 120))
    print_lines(list(_listed(width) if topics is None else _explained(topics, width)))


def _listed(width: int) -> Iterator[str]:
    by_kind: dict[str, list[str]] = {}
    for topic in api.topics():
        by_kind.setdefault(topic.kind, []).append(topic.name)
    for kind, names in by_kind.items():
        yield f"{kind[0].upper()}{kind[1:]}"
        yield from textwrap.wrap(", ".join(names), width, initial_indent="   ", subsequent_indent="   ")
    yield "passmuster help WORD explains one of them."


def _explained(topics: list[api.Topic], width: int) -> Iterator[str]:
    for number, topic in enumerate(topics):
        if number:
            yield ""
        yield f"{topic.name} ({topic.kind})"
        yield from textwrap.wrap(_plain(topic.text), width, initial_indent="   ", subsequent_indent="   ")
        for heading, text in topic.details:
            yield from textwrap.wrap(
                f"{heading}: {_plain(text)}", width, initial_indent="   ", subsequent_indent="      "
            )
        if topic.keys:
            yield "   Keys:"
        for key in topic.keys:
            default = f" Default: {key.default}." if key.default not in ("", "required") else ""
            required = " Required." if key.default == "required" else ""
            text = f"{key.name}: {_plain(key.text)} Takes {_plain(key.value)}.{default}{required}"
            yield from textwrap.wrap(text, width, initial_indent="      ", subsequent_indent="         ")


def _plain(text: str) -> str:
    return reports.one_line(text.replace("`", "").replace("\\|", "|"))
