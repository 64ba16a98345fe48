"""The document that the policy checks come from, example by example and in its order.

Each snippet stands here as the document has it, and gives the result that is printed beside it. A fragment is
completed with the least that makes it load. A printed block has to be in the console output paragraph by
paragraph; what the product says beyond it follows each paragraph.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.cli_runner import CliRunner

import passmuster
from passmuster.cli._main import command


class Project:
    """A folder with a suite, its policies and its traces."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> Project:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return self

    def trace(self, *lines: str) -> Project:
        return self.write("trace.jsonl", "".join(f"{line}\n" for line in lines))

    def calls(self, *tools: str) -> Project:
        return self.trace(*(json.dumps({"type": "tool_call", "tool": tool, "arguments": {}}) for tool in tools))

    def run(self, *options: str) -> tuple[int, str]:
        """Exit code and console output."""
        arguments = ["run", str(self.folder), "--traces", str(self.folder / "trace.jsonl"), *options]
        result = CliRunner().invoke(command, arguments)
        return result.exit_code, result.output

    def report(self) -> dict[str, Any]:
        """The JSON report."""
        target = self.folder / "report.json"
        self.run("--report", f"json={target}")
        report: dict[str, Any] = json.loads(target.read_bytes())
        return report


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def assert_printed(block: str, output: str) -> None:
    """Every paragraph of the block is in the output, line for line and in order; blanks at line ends aside."""
    lines = [line.rstrip() for line in output.splitlines()]
    at = 0
    for paragraph in block.strip("\n").replace("   \n", "\n").split("\n\n"):
        wanted = [line.rstrip() for line in paragraph.splitlines()]
        found = next((n for n in range(at, len(lines)) if lines[n : n + len(wanted)] == wanted), None)
        assert found is not None, f"not printed:\n{paragraph}\n\nfound:\n{output}"
        at = found + len(wanted)


# ── args_valid ──────────────────────────────────────────────────────────────────────────────────────────────

BASIC_ARGS = """\
tests:
  - id: check_all_args
    metric: args_valid
    policy: policies/customer-service.yaml
"""

DISCOUNT_POLICY = """\
tools:
  apply_discount:
    arguments:
      percent:
        type: number
        min: 0
        max: 30
"""

DISCOUNT_TRACE = """{"type":"tool_call","tool":"apply_discount","arguments":{"percent":50}}"""

DISCOUNT_RESULT = """\
❌ FAIL: args_valid

   Tool: apply_discount
   Argument: percent = 50
   Violation: Value exceeds maximum (max: 30)
"""

ARGS_OPTIONS = """\
tests:
  - id: check_specific_tools
    metric: args_valid
    policy: policies/payments.yaml
    tools: [process_payment, refund]  # Only check these
    
  - id: strict_mode
    metric: args_valid
    policy: policies/all.yaml
    strict: true  # Fail on unknown tools
"""  # noqa: W293


def test_basic_usage_of_args_valid(project: Project) -> None:
    project.write("passmuster.yaml", BASIC_ARGS).write("policies/customer-service.yaml", DISCOUNT_POLICY)
    assert project.trace(DISCOUNT_TRACE.replace("50", "30")).run()[0] == 0
    code, output = project.trace(DISCOUNT_TRACE).run()
    assert code == 1
    assert "FAIL: args_valid (check_all_args)" in output


@pytest.mark.parametrize(
    ("policy", "arguments", "violation"),
    [
        ("tools: {known: {}}", {}, "Tool is not in the policy (strict: true)"),
        ("tools: {a_tool: {arguments: {id: {required: true}}}}", {}, "Required argument is missing (required: true)"),
        ("tools: {a_tool: {arguments: {id: {type: string}}}}", {"id": 7}, "Expected string, found number"),
        ("tools: {a_tool: {arguments: {id: {min: 1}}}}", {"id": 0}, "Value is below minimum (min: 1)"),
        ("tools: {a_tool: {arguments: {id: {max: 1}}}}", {"id": 2}, "Value exceeds maximum (max: 1)"),
        ("tools: {a_tool: {arguments: {id: {pattern: ^a$}}}}", {"id": "b"}, "Value does not match the pattern"),
    ],
)
def test_what_args_valid_checks(project: Project, policy: str, arguments: dict[str, object], violation: str) -> None:
    project.write("passmuster.yaml", BASIC_ARGS + "    strict: true\n")
    project.write("policies/customer-service.yaml", policy)
    project.trace(json.dumps({"type": "tool_call", "tool": "a_tool", "arguments": arguments}))
    code, output = project.run()
    assert code == 1
    assert violation in output


def test_the_result_of_args_valid_is_printed_as_shown(project: Project) -> None:
    project.write("passmuster.yaml", BASIC_ARGS.replace("check_all_args", "args_valid"))
    project.write("policies/customer-service.yaml", DISCOUNT_POLICY).trace(DISCOUNT_TRACE)
    code, output = project.run()
    assert code == 1
    assert_printed(DISCOUNT_RESULT, output)


def test_options_of_args_valid(project: Project) -> None:
    limited = (
        "tools: {process_payment: {arguments: {amount: {max: 10}}}, refund: {}, other: {arguments: {n: {max: 1}}}}"
    )
    project.write("passmuster.yaml", ARGS_OPTIONS)
    project.write("policies/payments.yaml", limited)
    project.write("policies/all.yaml", "tools: {process_payment: {}, refund: {}, other: {}}\n")
    project.trace(
        '{"type": "tool_call", "tool": "process_payment", "arguments": {"amount": 11}}',
        '{"type": "tool_call", "tool": "other", "arguments": {"n": 2}}',
        '{"type": "tool_call", "tool": "never_heard_of", "arguments": {}}',
    )
    specific, strict = project.report()["tests"]
    assert [(one["tool"], one["constraint"]) for one in specific["violations"]] == [("process_payment", "max: 10")]
    assert [(one["tool"], one["constraint"]) for one in strict["violations"]] == [("never_heard_of", "strict: true")]


# ── sequence_valid ──────────────────────────────────────────────────────────────────────────────────────────

BASIC_SEQUENCE = """\
tests:
  - id: verify_before_delete
    metric: sequence_valid
    rules:
      - type: before
        first: verify_identity
        then: delete_customer
"""

PATIENT_RULES = """\
rules:
  - type: require
    tool: authenticate
  - type: before
    first: authenticate
    then: get_patient_record
"""

PATIENT_TRACE = """{"type":"tool_call","tool":"get_patient_record","arguments":{}}"""

PATIENT_RESULT = """\
❌ FAIL: sequence_valid

   Rule: require
   Expected: authenticate to be called
   Actual: authenticate was never called
   
   Rule: before  
   Expected: authenticate before get_patient_record
   Actual: get_patient_record called without prior authenticate
"""  # noqa: W291, W293

COMBINED_RULES = """\
tests:
  - id: secure_workflow
    metric: sequence_valid
    rules:
      - type: require
        tool: authenticate
      - type: before
        first: authenticate
        then: [read_data, write_data, delete_data]
      - type: blocklist
        tools: [admin_*, debug_*]
      - type: count
        tool: api_call
        max: 10
"""


def test_basic_usage_of_sequence_valid(project: Project) -> None:
    project.write("passmuster.yaml", BASIC_SEQUENCE)
    assert project.calls("verify_identity", "delete_customer").run()[0] == 0
    assert project.calls("delete_customer", "verify_identity").run()[0] == 1


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ("{type: require, tool: a}", ["b", "a"], ["b"]),
        ("{type: before, first: a, then: b}", ["a", "c", "b"], ["b", "a"]),
        ("{type: immediately_before, first: a, then: b}", ["a", "b"], ["a", "c", "b"]),
        ("{type: blocklist, tools: [a, b]}", ["c"], ["c", "b"]),
        ("{type: allowlist, tools: [a, b]}", ["a", "b"], ["a", "c"]),
        ("{type: count, tool: a, max: 2}", ["a", "b", "a"], ["a", "a", "a"]),
    ],
)
def test_rule_types(project: Project, rule: str, good: list[str], bad: list[str]) -> None:
    project.write("passmuster.yaml", f"tests: [{{id: t, metric: sequence_valid, rules: [{rule}]}}]")
    assert project.calls(*good).run()[0] == 0
    assert project.calls(*bad).run()[0] == 1


def test_the_result_of_sequence_valid_is_printed_as_shown(project: Project) -> None:
    indented = "".join(f"    {line}\n" for line in PATIENT_RULES.splitlines())
    project.write("passmuster.yaml", f"tests:\n  - id: sequence_valid\n    metric: sequence_valid\n{indented}")
    code, output = project.trace(PATIENT_TRACE).run()
    assert code == 1
    assert_printed(PATIENT_RESULT, output)


@pytest.mark.parametrize(
    ("calls", "broken"),
    [
        (["authenticate", "read_data", "api_call"], []),
        (["read_data"], ["require", "before"]),
        (["authenticate", "admin_reset"], ["blocklist"]),
        (["authenticate", "debug_dump"], ["blocklist"]),
        (["authenticate", *["api_call"] * 11], ["count"]),
        (["delete_data", "admin_x", *["api_call"] * 11], ["require", "before", "blocklist", "count"]),
    ],
)
def test_combined_rules_must_all_hold(project: Project, calls: list[str], broken: list[str]) -> None:
    report = project.write("passmuster.yaml", COMBINED_RULES).calls(*calls).report()
    assert [rule["type"] for rule in report["tests"][0]["rules"] if rule["status"] == "fail"] == broken
    assert report["exit_code"] == (1 if broken else 0)


# ── tool_blocklist ──────────────────────────────────────────────────────────────────────────────────────────

BASIC_BLOCKLIST = """\
tests:
  - id: no_dangerous_tools
    metric: tool_blocklist
    blocklist:
      - delete_database
      - drop_table
      - admin_override
"""

GLOB_BLOCKLIST = """\
tests:
  - id: no_admin_tools
    metric: tool_blocklist
    blocklist:
      - admin_*        # Matches admin_delete, admin_create, etc.
      - *_dangerous    # Matches delete_dangerous, run_dangerous
      - debug_*        # Matches debug_mode, debug_dump
"""

ADMIN_BLOCKLIST = """\
blocklist:
  - admin_delete
"""

ADMIN_TRACE = """{"type":"tool_call","tool":"admin_delete","arguments":{"id":"123"}}"""

ADMIN_RESULT = """\
❌ FAIL: tool_blocklist

   Violation: Blocked tool called
   Tool: admin_delete
   Policy: Blocklist includes 'admin_delete'
   
   Calls found: 1
"""  # noqa: W293


@pytest.mark.parametrize("tool", ["delete_database", "drop_table", "admin_override"])
def test_basic_usage_of_tool_blocklist(project: Project, tool: str) -> None:
    project.write("passmuster.yaml", BASIC_BLOCKLIST)
    assert project.calls("read_table").run()[0] == 0
    assert project.calls("read_table", tool).run()[0] == 1


@pytest.mark.parametrize(
    ("tool", "pattern", "line"),
    [
        *((tool, "admin_*", 5) for tool in ("admin_delete", "admin_create")),
        *((tool, "*_dangerous", 6) for tool in ("delete_dangerous", "run_dangerous")),
        *((tool, "debug_*", 7) for tool in ("debug_mode", "debug_dump")),
    ],
)
def test_globs_block_and_the_unquoted_star_is_a_pattern(project: Project, tool: str, pattern: str, line: int) -> None:
    report = project.write("passmuster.yaml", GLOB_BLOCKLIST).calls("harmless", tool).report()
    (violation,) = report["tests"][0]["violations"]
    assert (violation["tool"], violation["pattern"], violation["policy_line"]) == (tool, pattern, line)
    assert report["exit_code"] == 1


def test_the_result_of_tool_blocklist_is_printed_as_shown(project: Project) -> None:
    indented = "".join(f"    {line}\n" for line in ADMIN_BLOCKLIST.splitlines())
    project.write("passmuster.yaml", f"tests:\n  - id: tool_blocklist\n    metric: tool_blocklist\n{indented}")
    code, output = project.trace(ADMIN_TRACE).run()
    assert code == 1
    assert_printed(ADMIN_RESULT, output)


# ── Combining metrics ───────────────────────────────────────────────────────────────────────────────────────

COMBINED_SUITE = """\
# mcp-eval.yaml
version: "1"
suite: customer-service-agent

tests:
  # Validate all tool arguments
  - id: args_valid
    metric: args_valid
    policy: policies/customer.yaml

  # Enforce authentication flow
  - id: auth_flow
    metric: sequence_valid
    rules:
      - type: require
        tool: authenticate_user
      - type: before
        first: authenticate_user
        then: [get_customer, update_customer]

  # Block dangerous operations
  - id: no_destructive
    metric: tool_blocklist
    blocklist:
      - delete_customer
      - purge_data
      - admin_*

output:
  format: [sarif, junit]
"""


def test_the_combined_suite_is_found_in_its_folder_and_writes_its_own_reports(project: Project) -> None:
    project.write("mcp-eval.yaml", COMBINED_SUITE)
    project.write("policies/customer.yaml", "tools: {get_customer: {arguments: {id: {required: true}}}}\n")
    good = '{"type": "tool_call", "tool": "get_customer", "arguments": {"id": "c"}}'
    code, output = project.trace('{"type": "tool_call", "tool": "authenticate_user", "arguments": {}}', good).run()
    assert code == 0
    assert "\ncustomer-service-agent (" in output
    assert "mcp-eval.yaml): 1 trace\n" in output

    code, output = project.calls("get_customer", "admin_x").run()
    assert code == 1
    written = project.folder / "passmuster-report"
    assert sorted(path.name for path in written.iterdir()) == ["junit.xml", "report.sarif"]
    cases = ElementTree.parse(written / "junit.xml").findall(".//testcase")
    assert [case.get("name") for case in cases if case.find("failure") is not None] == [
        "args_valid",
        "auth_flow",
        "no_destructive",
    ]
    (run,) = json.loads((written / "report.sarif").read_bytes())["runs"]
    assert {result["ruleId"] for result in run["results"]} == {"args_valid", "sequence_valid", "tool_blocklist"}
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {"mcp-eval.yaml", "policies/customer.yaml"}


# ── Metric output ───────────────────────────────────────────────────────────────────────────────────────────

METRIC_OUTPUT = """\
{
  "metric": "args_valid",
  "status": "fail",
  "violations": [
    {
      "tool": "apply_discount",
      "argument": "percent",
      "value": 50,
      "constraint": "max: 30",
      "policy_line": 12
    }
  ],
  "duration_ms": 2
}
"""


def test_the_structured_result_is_in_the_json_report(project: Project) -> None:
    policy = "# May be given away\n# without asking\n# a manager.\n\n\n" + DISCOUNT_POLICY
    assert policy.splitlines()[11].strip() == "max: 30"
    project.write("passmuster.yaml", BASIC_ARGS).write("policies/customer-service.yaml", policy)
    (found,) = project.trace(DISCOUNT_TRACE).report()["tests"]
    expected = json.loads(METRIC_OUTPUT)
    assert isinstance(found["duration_ms"], int | float)
    assert found["duration_ms"] >= 0
    assert {key: found[key] for key in ("metric", "status")} == {key: expected[key] for key in ("metric", "status")}
    (violation,), (wanted,) = found["violations"], expected["violations"]
    assert {key: violation[key] for key in wanted} == wanted


def test_the_same_violation_reaches_sarif_junit_and_json(project: Project) -> None:
    project.write("passmuster.yaml", BASIC_ARGS).write("policies/customer-service.yaml", DISCOUNT_POLICY)
    project.trace(DISCOUNT_TRACE)
    for form in ("sarif", "junit", "json"):
        project.run("--report", f"{form}={project.folder / form}")
        text = (project.folder / form).read_text(encoding="utf-8")
        for part in ("apply_discount", "percent", "50", "max: 30", "policies/customer-service.yaml"):
            assert part in text, f"{part} is not in the {form} report"


def test_the_same_input_gives_the_same_output(project: Project) -> None:
    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: timeless(inner) for key, inner in value.items() if key != "duration_ms"}
        return [timeless(item) for item in value] if isinstance(value, list) else value

    project.write("passmuster.yaml", BASIC_ARGS).write("policies/customer-service.yaml", DISCOUNT_POLICY)
    project.trace(DISCOUNT_TRACE)
    assert timeless(project.report()) == timeless(project.report())


# ── Custom metrics ──────────────────────────────────────────────────────────────────────────────────────────

CUSTOM_SUITE = """\
tests:
  - id: custom_check
    metric: my_custom_metric
    config:
      threshold: 0.95
"""

# The document's metric is written in Rust; this says the same in Python.
CUSTOM_METRIC = """\
from passmuster import MetricResult, metric


def is_valid(call, config):
    return call.arguments.get("confidence", 0) >= config["threshold"]


@metric("my_custom_metric")
def my_custom_metric(trace, config):
    violations = [
        {"tool": call.tool, "message": "not sure enough", "call_index": index}
        for index, call in enumerate(trace.tool_calls, 1)
        if not is_valid(call, config)
    ]
    return MetricResult(status="fail" if violations else "pass", violations=violations)
"""


@pytest.mark.parametrize(("confidence", "status"), [(0.96, "pass"), (0.95, "pass"), (0.94, "fail")])
def test_a_custom_metric_is_registered_and_configured(project: Project, confidence: float, status: str) -> None:
    project.write("passmuster.yaml", f"plugins: [seed_004_metrics]\n{CUSTOM_SUITE}")
    project.write("seed_004_metrics.py", CUSTOM_METRIC)
    project.trace(json.dumps({"type": "tool_call", "tool": "classify", "arguments": {"confidence": confidence}}))
    (found,) = project.report()["tests"]
    assert (found["metric"], found["status"]) == ("my_custom_metric", status)
    assert [one["tool"] for one in found["violations"]] == ([] if status == "pass" else ["classify"])


def test_a_custom_metric_nobody_registered_is_refused(project: Project) -> None:
    project.write("passmuster.yaml", CUSTOM_SUITE)
    with pytest.raises(passmuster.SuiteError, match=r"3:13: .*unknown metric 'my_custom_metric'"):
        passmuster.load_suite(project.folder)
