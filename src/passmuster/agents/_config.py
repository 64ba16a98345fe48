"""How a suite says to run its agent: `python`, `command` and `http` of `agent:`."""

import re
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct

from passmuster.agents._templates import Template, templates_in, why_bad_template
from passmuster.agents.capture import CAPTURE, CaptureConfig
from passmuster.suite import (
    TEXT,
    Choice,
    Custom,
    Key,
    MapOf,
    Mapping,
    Node,
    Reader,
    Record,
    RecordOf,
    Scalar,
    Sequence,
    Suite,
    Value,
    plain,
)

_FUNCTION = r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*"
_IN_COMMAND = ("query", "session", "scenario", "run")
_IN_HTTP = ("query", "session", "scenario", "run", "turn", "env")
_IN_BODY = (*_IN_HTTP, "messages")
_STEP = re.compile(r"[^.\[\]]+|\[\d+\]")
_PATH = re.compile(r"([^.\[\]]+|\[\d+\])(\.[^.\[\]]+|\[\d+\])*")


class PythonAgent(Struct, frozen=True):
    """A function in a module."""

    module: str
    function: str


class CommandAgent(Struct, frozen=True):
    """A program and its arguments."""

    words: tuple[Template, ...]

    @property
    def takes_query(self) -> bool:
        """Whether the query is an argument, and not on standard input."""
        return any("query" in word.fields for word in self.words)


def _template(allowed: tuple[str, ...]) -> Custom[Template]:
    def read(reader: Reader, node: Node, at: str) -> Template:
        text = reader.text(node, at)
        if why := why_bad_template(text, allowed):
            reader.problem(node, f"{at}: {why}")
        return Template(text)

    return Custom("a string with fields such as `{query}`", read, TEXT.schema)


def _read_python(reader: Reader, node: Node, at: str) -> PythonAgent:
    text = reader.text(node, at)
    if text and not re.fullmatch(_FUNCTION, text):
        reader.expected("module:function, such as support.agent:answer", node, at)
    module, _, function = text.partition(":")
    return PythonAgent(module, function)


def _read_command(reader: Reader, node: Node, at: str) -> CommandAgent:
    if isinstance(node, Scalar) and isinstance(node.value, str):
        reader.problem(node, f"{at}: expected a list, such as [node, agent.js]; no shell reads it, found a string")
        return CommandAgent(())
    word = _template(_IN_COMMAND)
    words = tuple(word.read(reader, item, f"{at}[{place}]") for place, item in enumerate(reader.items(node, at)))
    if isinstance(node, Sequence) and not words:
        reader.problem(node, f"{at}: the list is empty, so there is nothing to run")
    if words and words[0].fields:
        reader.problem(node, f"{at}[0]: the program itself cannot come from a field")
    return CommandAgent(words)


def _read_url(reader: Reader, node: Node, at: str) -> Template:
    template = _template(_IN_HTTP).read(reader, node, at)
    text = template.text
    if text and not re.match(r"https?://[^/?#]", text) and not text.startswith("{env."):
        reader.expected("an address such as http://localhost:8080/chat", node, at)
    elif "@" in re.split(r"[/?#]", text.partition("://")[2], maxsplit=1)[0]:
        message = "holds a user or a password; send them in a header, from the environment: 'Bearer {env.TOKEN}'"
        reader.problem(node, f"{at}: {message}")
    return template


def _read_body(reader: Reader, node: Node, at: str) -> Any:
    """A JSON value whose texts are templates, or one template."""
    if isinstance(node, Mapping):
        return {entry.key: _read_body(reader, entry.value, f"{at}.{entry.key}") for entry in reader.mapping(node, at)}
    if isinstance(node, Sequence):
        return [_read_body(reader, item, f"{at}[{place}]") for place, item in enumerate(node.items)]
    value = plain(node)
    if not isinstance(value, str):
        return value
    if why := why_bad_template(value, _IN_BODY):
        reader.problem(node, f"{at}: {why}")
    elif "{messages}" in value and value != "{messages}":
        reader.problem(node, f"{at}: '{{messages}}' is a list, so it has to stand alone")
    elif re.match(r"\s*[\[{]\s*[\[{\"']", value) and Template(value).fields:
        why = "a query with a quotation mark would break this JSON; write it as a map"
        reader.problem(node, f"{at}: {why}")
    return Template(value)


def _read_answer(reader: Reader, node: Node, at: str) -> str:
    text = reader.text(node, at)
    if text and not _PATH.fullmatch(text):
        reader.expected("the path of a value, such as choices[0].message.content", node, at)
    return text


URL = Custom("an address", _read_url, {"type": "string"})
BODY: Custom[Any] = Custom("any value; fields in its texts are filled in", _read_body, {})
ANSWER = Custom("a path such as `choices[0].text`", _read_answer, TEXT.schema)


class HttpAgent(Record, frozen=True, kw_only=True):
    """A server that is asked once per turn."""

    url: Annotated[Template, URL, Key("Its address; fields as in `body`.", example="http://localhost:8080/chat")]
    method: Annotated[str, Choice("POST", "GET", "PUT", "PATCH"), Key("The method of the request.", example="GET")] = (
        "POST"
    )
    headers: Annotated[
        dict[str, Template],
        MapOf(_template(_IN_HTTP)),
        Key(
            "Headers. `{env.NAME}` is a variable of the environment; its value is stored nowhere.",
            example={"Authorization": "Bearer {env.SUPPORT_TOKEN}"},
        ),
    ] = {}  # noqa: RUF012 - copied by msgspec
    body: Annotated[
        Any,
        BODY,
        Key(
            "What is sent: a value, sent as JSON, or a text. By default the `query` and the `session`.",
            example={"messages": "{messages}"},
        ),
    ] = None
    answer: Annotated[
        str | None,
        ANSWER,
        Key("Where the answer is in the JSON of the response.", example="choices[0].message.content"),
    ] = None

    @property
    def sent(self) -> Any:
        """The body, with its default."""
        if self.body is None and self.method != "GET":
            return {"query": Template("{query}"), "session": Template("{session}")}
        return self.body

    @property
    def templates(self) -> tuple[Template, ...]:
        """All that is filled in."""
        return (self.url, *self.headers.values(), *templates_in(self.sent))


AGENT_VALUES: dict[str, Value[Any]] = {
    "agent_python": Custom("`module:function`", _read_python, {"type": "string", "pattern": f"^{_FUNCTION}$"}),
    "agent_command": Custom(
        "a list: a program and its arguments", _read_command, {"type": "array", "items": {"type": ["string", "number"]}}
    ),
    "agent_http": RecordOf(HttpAgent, "an address, or a map", short="url"),
    "agent_capture": CAPTURE,
}
"""Value types of the keys of `agent:` that say how it is run."""


class LiveAgent(Struct, frozen=True, kw_only=True):
    """An agent that can be run."""

    way: PythonAgent | CommandAgent | HttpAgent
    folder: Path
    """Where it runs: the suite's folder."""
    name: str | None = None
    version: str | None = None
    setup: CommandAgent | None = None
    teardown: CommandAgent | None = None
    capture: CaptureConfig = CaptureConfig()
    timeout: float = 120.0
    retries: int = 2
    concurrency: int = 4
    file: str = ""
    lines: dict[str, int] = {}
    """The line of each key under `agent:`."""


def agent_of(suite: Suite) -> LiveAgent | None:
    """The agent of a suite; None where the suite does not say how to run it."""
    stated = suite.agent
    way = stated.python or stated.command or stated.http
    if way is None:
        return None
    assert isinstance(way, PythonAgent | CommandAgent | HttpAgent)
    assert stated.setup is None or isinstance(stated.setup, CommandAgent)
    assert stated.teardown is None or isinstance(stated.teardown, CommandAgent)
    capture = stated.capture or CaptureConfig()
    assert isinstance(capture, CaptureConfig)
    return LiveAgent(
        way=way,
        folder=suite.folder,
        name=stated.name,
        version=stated.version,
        setup=stated.setup,
        teardown=stated.teardown,
        capture=capture,
        timeout=stated.timeout,
        retries=stated.retries,
        concurrency=stated.concurrency,
        file=suite.file,
        lines=stated.lines,
    )


def steps_of_path(path: str) -> list[str | int]:
    """The keys and indexes of a path: `choices[0].text`."""
    return [int(step[1:-1]) if step[0] == "[" else step for step in _STEP.findall(path)]
