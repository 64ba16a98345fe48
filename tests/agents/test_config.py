"""`agent:` in a suite: what is read, and what is refused with its place."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from passmuster._problems import SuiteError
from passmuster.agents import CommandAgent, HttpAgent, LiveAgent, PythonAgent, agent_of
from passmuster.engine import load_suite

SCENARIO = """
scenarios:
  - { id: A, query: Hello, correctness: { expected_in_answer: hi } }
"""


def read(folder: Path, agent: str) -> LiveAgent | None:
    (folder / "passmuster.yaml").write_text(f"agent:\n{textwrap.indent(textwrap.dedent(agent), '  ')}{SCENARIO}")
    return agent_of(load_suite(folder))


def test_a_python_function(tmp_path: Path) -> None:
    agent = read(tmp_path, "name: support\npython: support.agent:answer\ntimeout: 2m\n")
    assert agent is not None
    assert agent.way == PythonAgent("support.agent", "answer")
    assert (agent.name, agent.timeout, agent.retries, agent.concurrency) == ("support", 120, 2, 4)
    assert agent.folder == tmp_path.resolve()


def test_a_command(tmp_path: Path) -> None:
    agent = read(tmp_path, "command: [node, agent.js, '{query}', 3]\nsetup: [./reset]\ntimeout: 500ms\n")
    assert agent is not None
    assert isinstance(agent.way, CommandAgent)
    assert [word.text for word in agent.way.words] == ["node", "agent.js", "{query}", "3"]
    assert agent.way.takes_query
    assert agent.timeout == 0.5


def test_a_server(tmp_path: Path) -> None:
    agent = read(
        tmp_path,
        """
        http:
          url: http://localhost:80/{session}
          headers: { Authorization: "Bearer {env.TOKEN}" }
          body: { text: "{query}", history: "{messages}", json: '{"a": {}}' }
          answer: choices[0].text
        """,
    )
    assert agent is not None
    assert isinstance(agent.way, HttpAgent)
    assert [name for one in agent.way.templates for name in one.variables] == ["TOKEN"]


def test_the_address_alone(tmp_path: Path) -> None:
    agent = read(tmp_path, "http: http://localhost:80/chat\n")
    assert agent is not None
    assert isinstance(agent.way, HttpAgent)
    assert agent.way.method == "POST"


def test_a_name_is_no_way_to_run_it(tmp_path: Path) -> None:
    assert read(tmp_path, "name: support\n") is None


@pytest.mark.parametrize(
    ("agent", "line", "message"),
    [
        ("python: support", 2, "agent.python: expected module:function, such as support.agent:answer"),
        ("python: 'a:b c'", 2, "agent.python: expected module:function"),
        ("command: node agent.js", 2, "agent.command: expected a list, such as [node, agent.js]; no shell reads it"),
        ("command: []", 2, "agent.command: the list is empty"),
        ("command: ['{query}']", 2, "agent.command[0]: the program itself cannot come from a field"),
        ("command: [a, '{qery}']", 2, "agent.command[1]: unknown field '{qery}'; did you mean 'query'?"),
        ("command: [a, '{env.KEY}']", 2, "agent.command[1]: '{env.KEY}' cannot stand here"),
        ("http: localhost:80", 2, "agent.http: expected an address such as http://localhost:8080/chat"),
        ("http: http://me:pw@host/", 2, "agent.http: holds a user or a password"),
        ("http: { url: 'http://a/', method: FETCH }", 2, "agent.http.method: expected one of POST, GET"),
        ("http: { url: 'http://a/', body: { q: '{qury}' } }", 2, "agent.http.body.q: unknown field '{qury}'"),
        ("http: { url: 'http://a/', body: 'so: {messages}' }", 2, "has to stand alone"),
        ("""http: { url: 'http://a/', body: '{"q": "{query}"}' }""", 2, "would break this JSON; write it as a map"),
        ("http: { url: 'http://a/', answer: 'a..b' }", 2, "agent.http.answer: expected the path of a value"),
        ("http: { url: 'http://a/', headers: { X: '{env.}' } }", 2, "names no variable"),
        ("http: { body: x }", 2, "agent.http: 'url' is missing"),
        ("python: a:b\ncommand: [c]", 3, "agent: 'python' and 'command' are two ways to run one agent"),
        ("name: a\nsetup: [reset]", 3, "agent: 'setup' means nothing without one of python, command, http"),
        ("python: a:b\ntimeout: 0", 3, "agent.timeout: expected a time above 0"),
        ("python: a:b\ntimeout: 5 days", 3, "agent.timeout: expected a time above 0"),
        ("python: a:b\nconcurrency: 0", 3, "agent.concurrency: expected a whole number from 1 to 256"),
        ("python: a:b\nretries: -1", 3, "agent.retries: expected a whole number from 0 to 20"),
        ("pyton: a:b", 2, "agent: unknown key 'pyton'; did you mean 'python'?"),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, agent: str, line: int, message: str) -> None:
    with pytest.raises(SuiteError) as caught:
        read(tmp_path, agent + "\n")
    found = [problem for problem in caught.value.problems if message in problem.message]
    assert found, caught.value
    assert found[0].line == line
