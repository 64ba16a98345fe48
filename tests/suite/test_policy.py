"""A policy file in each of its forms, and what is refused in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.suite.suite_files import problems, write

import passmuster
from passmuster.checks.args import Policy
from passmuster.checks.kinds.args_valid import ArgsValid

BY_POLICY = "tests: [{id: t, metric: args_valid, policy: policies/p.yaml}]\n"


def read(folder: Path, policy: str, suite: str = BY_POLICY) -> Policy:
    spec = passmuster.load_suite(write(folder, suite, policy=policy)).tests[0].spec
    assert isinstance(spec, ArgsValid)
    assert spec.policy is not None
    return spec.policy


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}, "required": ["n"]}
SAME = {
    "own words": "tools: {pay: {arguments: {n: {type: integer, max: 3, required: true}}}}",
    "long words": "tools: {pay: {arguments: {n: {type: integer, maximum: 3, required: true}}}}",
    "JSON Schema": json.dumps({"tools": {"pay": {"schema": SCHEMA}}}),
    "MCP": json.dumps({"tools": [{"name": "pay", "description": "…", "inputSchema": SCHEMA}]}),
    "MCP answer": json.dumps(
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "pay", "inputSchema": SCHEMA}]}}
    ),
    "OpenAI": json.dumps([{"type": "function", "function": {"name": "pay", "parameters": SCHEMA}}]),
    "OpenAI, flat": json.dumps({"tools": [{"type": "function", "name": "pay", "parameters": SCHEMA}]}),
    "Anthropic": json.dumps({"tools": [{"name": "pay", "input_schema": SCHEMA}]}),
}


@pytest.mark.parametrize("policy", SAME.values(), ids=SAME)
def test_all_forms_of_a_policy_become_the_same_schema(tmp_path: Path, policy: str) -> None:
    (tool,) = read(tmp_path, policy).tools
    assert (tool.pattern, tool.arguments.schema) == ("pay", SCHEMA)


def test_each_constraint_leads_back_to_its_line_and_spelling(tmp_path: Path) -> None:
    policy = read(
        tmp_path,
        "# a remark\ntools:\n  pay:\n    arguments:\n      n:\n        type: integer\n        required: true\n"
        "        max: 3_0\n".replace("3_0", "30")
        + "      list:\n        items:\n          minLength: 0x2\n    additional_arguments: false\n",
    )
    assert policy.line == 2
    anchors = {path: (anchor.line, anchor.constraint) for path, anchor in policy.tools[0].arguments.anchors.items()}
    assert anchors[("properties", "n", "maximum")] == (8, "max: 30")
    assert anchors[("required", "n")] == (7, "required: true")
    assert anchors[("properties", "list", "items", "minLength")] == (11, "minLength: 0x2")
    assert anchors[("additionalProperties",)] == (12, "additional_arguments: false")


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ("tools: {}\n", "policies/p.yaml:1:8: tools: is empty, so no call would be checked"),
        ("tools: []\n", "policies/p.yaml:1:8: tools: is empty, so no call would be checked"),
        ("a: 1\n", "policies/p.yaml:1:1: a policy needs 'tools'"),
        ("7\n", "policies/p.yaml:1:1: policy: expected a map, found a number ('7')"),
        ("tols: {}\ntools: {a: {}}\n", "1:1: policy: unknown key 'tols'; did you mean 'tools'?"),
        ("tools: {a: {argument: {}}}\n", "1:13: tools.a: unknown key 'argument'; did you mean 'arguments'?"),
        ("tools: {'a[': {}}\n", "1:9: tools: '[' in the pattern 'a[' is never closed"),
        ("tools: {a: {arguments: [n]}}\n", "1:24: tools.a.arguments: expected a map, found a list"),
        ("tools: {a: {arguments: {n: number}}}\n", "tools.a.arguments.n: expected a map, found a string ('number')"),
        (
            "tools: {a: {arguments: {n: {type: numbr}}}}\n",
            "'numbr' is not a JSON type; did you mean 'number'?",
        ),
        (
            "tools: {a: {arguments: {n: {type: string, min: 1}}}}\n",
            "'min' means nothing for type string and could never",
        ),
        ("tools: {a: {arguments: {n: {type: string, maximum: 1}}}}\n", "'maximum' means nothing for type string"),
        ("tools: {a: {arguments: {n: {type: string, exclusiveMinimum: 1}}}}\n", "'exclusiveMinimum' means nothing"),
        ("tools: {a: {arguments: {n: {type: string, multipleOf: 2}}}}\n", "'multipleOf' means nothing for type string"),
        ("tools: {a: {arguments: {n: {type: number, pattern: a}}}}\n", "'pattern' means nothing for type number"),
        (
            "tools: {a: {arguments: {n: {type: number, min: low}}}}\n",
            "n.min: expected a number, found a string ('low')",
        ),
        (
            "tools: {a: {arguments: {n: {min: 1, minimum: 2}}}}\n",
            "'minimum' repeats 'minimum' or its short form",
        ),
        ("tools: {a: {arguments: {n: {multipleOf: 0}}}}\n", "n.multipleOf: has to be above 0"),
        ("tools: {a: {arguments: {n: {minLength: -1}}}}\n", "expected a whole number of 0 or more"),
        ("tools: {a: {arguments: {n: {enum: []}}}}\n", "n.enum: an empty list allows no value"),
        ("tools: {a: {arguments: {n: {enum: x}}}}\n", "n.enum: expected a list, found a string ('x')"),
        (
            "tools: {a: {arguments: {n: {format: emial}}}}\n",
            "unknown format 'emial', so no value would be checked; did",
        ),
        (
            "tools: {a: {arguments: {n: {pattern: '('}}}}\n",
            "1:38: tools.a.arguments.n.pattern: not an ECMA-262 pattern: '(' is never closed",
        ),
        ("tools: {a: {arguments: {n: {on_violation: stop}}}}\n", "expected one of block, warn, log, found a string"),
        ("tools: {a: {arguments: {n: {required: maybe}}}}\n", "n.required: expected true or false, found a string"),
        ("tools: {a: {additional_arguments: 1}}\n", "additional_arguments: expected true or false, found a number"),
        ("tools: {a: {schema: {type: numbr}}}\n", "tools.a.schema: type: "),
        (
            "tools: {a: {schema: {}, arguments: {}}}\n",
            "tools.a: 'arguments' cannot be combined with 'schema'; state it there",
        ),
        ("tools: {a: {schema: {$ref: 'http://example.com/s'}}}\n", "a $ref can only point within this schema"),
        ("tools: [{description: d}]\n", "tools[0]: a tool definition needs a 'name'"),
        ("tools: [{name: a}, {name: a}]\n", "tools[1]: the tool 'a' is already defined on line 1"),
        ("tools: [7]\n", "tools[0]: expected a map, found a number ('7')"),
    ],
)
def test_a_mistake_in_a_policy_is_told_in_its_own_file(tmp_path: Path, policy: str, problem: str) -> None:
    found = problems(tmp_path, BY_POLICY, policy=policy)
    assert any(problem in one for one in found), found
    assert all(one.startswith("policies/p.yaml:") for one in found)


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ("[pay, refnd]", "tests.t: no tool in the policy matches 'refnd'"),
        ("[]", "tests.t.tools: the list is empty, so nothing would be checked"),
        ("['p[']", "'[' in the pattern 'p[' is never closed"),
    ],
)
def test_tools_that_no_policy_tool_matches(tmp_path: Path, tools: str, problem: str) -> None:
    suite = BY_POLICY.replace("p.yaml}", f"p.yaml, tools: {tools}}}")
    assert any(problem in one for one in problems(tmp_path, suite))


@pytest.mark.parametrize("tools", ["[pay]", "[p*]", "['*']", "[refund, pay]"])
def test_tools_that_some_policy_tool_matches(tmp_path: Path, tools: str) -> None:
    suite = BY_POLICY.replace("p.yaml}", f"p.yaml, tools: {tools}}}")
    assert passmuster.load_suite(write(tmp_path, suite)).tests


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("policies/none.yaml", "tests.t.policy: there is no file 'policies/none.yaml' (looked for "),
        ("policies", "tests.t.policy: there is no file 'policies'"),
        ("../outside.yaml", "tests.t.policy: '../outside.yaml' is outside the root ("),
        ("/etc/passwd", "tests.t.policy: '/etc/passwd' is outside the root ("),
        ("link.yaml", "tests.t.policy: 'link.yaml' is outside the root ("),
        ('"a\\0b"', "tests.t.policy: this cannot be the path of a file: embedded null byte"),
        ("a" * 5000, "tests.t.policy: this cannot be the path of a file: File name too long"),
        ("''", "tests.t.policy: is empty"),
        ("[a]", "tests.t.policy: expected a string, found a list"),
    ],
)
def test_a_policy_file_that_is_missing_or_outside_the_root(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "outside.yaml").write_text("tools: {a: {}}\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    (found,) = problems(inner, f"tests: [{{id: t, metric: args_valid, policy: {name}}}]\n")
    assert found.startswith(f"passmuster.yaml:1:45: {problem}")


def test_a_policy_and_constraints_of_its_own_do_not_go_together(tmp_path: Path) -> None:
    suite = BY_POLICY.replace("p.yaml}", "p.yaml, tool: a, constraints: {}}")
    assert problems(tmp_path, suite) == [
        "passmuster.yaml:1:9: tests.t: 'policy' cannot be combined with 'tool' and 'constraints'"
    ]
