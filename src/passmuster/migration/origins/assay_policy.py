"""Assay's policies: allowed and denied tools, schemas of arguments, sequences."""

from __future__ import annotations

from passmuster.checks import are_schemas, is_assay_policy, left_out, refuses_unconstrained
from passmuster.checks import translated as as_policy
from passmuster.migration._assay_rules import aliases_of, rules_of
from passmuster.migration._draft import Draft, entries_of, items_of, made, text_of
from passmuster.suite import Entry, Mapping, Node, Scalar

DESCRIPTION = "Policies of Assay: `tools.allow` and `deny`, `schemas`, `constraints`, `sequences`."

_HANDLED = ("enforcement", "limits", "sequences", "aliases", "on_error", "metadata")
_OTHER_TOOLS = (
    "a tool without a schema passes, as in Assay 6; versions that refused it are matched by 'strict: true' on the test"
)
_NOTHING = "checks nothing in recorded traces; it is about a running agent"


def recognize(document: Node) -> bool:
    """A policy in Assay's words, and no file of tests."""
    if not isinstance(document, Mapping) or {"tests", "queries", "scenarios", "prompts"} & document.entries.keys():
        return False
    return is_assay_policy(document) or "sequences" in document or "max_tool_calls_total" in _limits(document)


def translate(document: Mapping, draft: Draft) -> Mapping:
    """A suite whose tests ask what the policy enforces."""
    tools = entries_of(document.get("tools"))
    tests: list[Node] = []
    denied = [*items_of(tools.get("deny")), *items_of(document.get("deny"))]
    allowed = [*items_of(tools.get("allow")), *items_of(document.get("allow"))]
    _note_stars([*denied, *allowed], draft)
    if denied:
        tests.append(made({"id": "denied_tools", "metric": "tool_blocklist", "blocklist": denied}, denied[0]))
    if allowed and all(text_of(item) != "*" for item in allowed):
        rule = made({"type": "allowlist", "tools": allowed}, allowed[0])
        tests.append(made({"id": "allowed_tools", "metric": "sequence_valid", "rules": [rule]}, allowed[0]))
    if arguments := _arguments(document):
        more = {"strict": True} if refuses_unconstrained(document) else {}
        if are_schemas(document):
            draft.note(document, "changed", _OTHER_TOOLS)
        tests.append(made({"id": "arguments", "metric": "args_valid", "policy": arguments, **more}, arguments))
    if rules := _rules(document, draft):
        tests.append(made({"id": "order", "metric": "sequence_valid", "rules": rules}, rules[0]))
    for entry in left_out(document):
        if entry.key not in _HANDLED:
            kind = "lost" if entry.key.startswith(("approval", "restrict", "deny", "allow")) else "ignored"
            draft.note(entry, kind, f"'{entry.key}' {_NOTHING}")  # type: ignore[arg-type]
    name = text_of(document.get("name")) or draft.path.stem
    return made({"suite": name, "tests": tests}, document)  # type: ignore[return-value]


def _arguments(document: Mapping) -> Mapping | None:
    """What the policy says about arguments, without what is allowed and denied as a whole."""
    tools = document.get("tools")
    top = {key: entry for key, entry in document.entries.items() if key not in ("allow", "deny", "name", "version")}
    if isinstance(tools, Mapping):
        others = {"allow", "deny", *(entry.key for entry in left_out(document))}
        kept = {key: entry for key, entry in tools.entries.items() if key not in others}
        top["tools"] = Entry("tools", tools.line, tools.column, Mapping(kept, tools.line, tools.column))
    rest = Mapping(top, document.line, document.column)
    if not is_assay_policy(rest):
        named = rest.get("tools")
        return Mapping({"tools": rest.entries["tools"]}, rest.line, rest.column) if entries_of(named) else None
    found = as_policy(rest).policy
    return found if entries_of(found.get("tools")) else None


def _rules(document: Mapping, draft: Draft) -> list[Node]:
    rules = rules_of(document.get("sequences"), aliases_of(document), draft)
    limits = _limits(document)
    if "max_tool_calls_total" in limits:
        most = limits["max_tool_calls_total"]
        rules.append(made({"type": "count", "tool": "*", "max": most}, most))
    if "max_requests_total" in limits:
        draft.note(limits["max_requests_total"], "lost", f"'max_requests_total' {_NOTHING}")
    return rules


def _limits(document: Mapping) -> dict[str, Node]:
    """The limits that state something."""
    limits = entries_of(document.get("limits"))
    return {key: node for key, node in limits.items() if not (isinstance(node, Scalar) and node.value is None)}


def _note_stars(patterns: list[Node], draft: Draft) -> None:
    for item in patterns:
        if "*" in text_of(item).strip("*"):
            text = f"'{text_of(item)}': Assay takes a * inside a name literally; here it matches any text"
            draft.note(item, "changed", text)
