"""Files of known products that are not read: what they are, and what can be read instead."""

from __future__ import annotations

from collections.abc import Mapping

_SPANS = "send its spans as OTLP to a file instead"
_PRODUCTS: tuple[tuple[frozenset[str], str, str], ...] = (
    (frozenset({"op_name", "project_id", "started_at"}), "calls of W&B Weave", _SPANS),
    (frozenset({"span_attributes", "root_span_id"}), "an export of Braintrust", _SPANS),
    (frozenset({"span_attributes", "span_id"}), "an export of Braintrust", _SPANS),
    (frozenset({"example_id", "inputs", "outputs"}), "a dataset of LangSmith", "export the runs (`list_runs`)"),
    (frozenset({"dataset_id", "inputs", "outputs"}), "a dataset of LangSmith", "export the runs (`list_runs`)"),
    (frozenset({"datasetId", "expectedOutput"}), "a dataset of Langfuse", "export the traces with their observations"),
    (frozenset({"traceId", "dataType", "value"}), "scores of Langfuse", "export the traces with their observations"),
    (
        frozenset({"id", "timestamp", "name", "userId", "sessionId"}),
        "a list of traces of Langfuse without observations",
        "export them too (GET /api/public/traces/ID)",
    ),
    (frozenset({"eval_set_id", "eval_cases"}), "an eval set of Google's ADK", "export the sessions that it was run on"),
    (frozenset({"conversations"}), "training data (ShareGPT)", "write its turns as chat messages"),
    (frozenset({"resourceMetrics"}), "metrics of OpenTelemetry", "export the traces"),
    (frozenset({"custom_id", "body", "url"}), "requests of a batch", "give its output file, or requests and responses"),
    (frozenset({"sessionId", "agentId", "trace"}), "traces of Bedrock's agents", "write its calls as native steps"),
    (frozenset({"message_type", "date"}), "messages of Letta", "write its calls as chat messages"),
    (frozenset({"evalId", "results"}), "results of promptfoo", "export the agent's own traces"),
    (frozenset({"testCases"}), "test cases of DeepEval", "export the agent's own traces"),
    (frozenset({"test_cases"}), "test cases of DeepEval", "export the agent's own traces"),
    (frozenset({"requesterUsername", "requests"}), "a chat of GitHub Copilot", _SPANS),
    (frozenset({"entries", "version"}), "an index of sessions", "give the session files themselves"),
)


def describe_product(keys: Mapping[str, object]) -> str | None:
    """What an object with these keys seems to be, and what to do; None where no product is known by them."""
    for marks, product, advice in _PRODUCTS:
        if marks <= keys.keys():
            return f"this looks like {product}: {advice}"
    return None
