"""`ciagent` at work on a file of traces. Run by the peers' own interpreter, in turns with `next_to_ciagent`.

It rewrites the file as `ciagent` itself writes traces, with every field stated: so it reads them fastest. Then it
prints the checks that each trace fails, and for every line it is sent the seconds that judging the whole file took.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.layered import CHECKS, QUERY
from ciagent.engine.runner import evaluate_query  # type: ignore[import-not-found]
from ciagent.models import Trace  # type: ignore[import-not-found]
from ciagent.schema.spec_models import GoldenQuery  # type: ignore[import-not-found]

# How the message on a failed check begins. One on its match mode is not asked for and left out.
MESSAGES = {
    "Expected '": "expected_in_answer",
    "Forbidden term": "not_in_answer",
    "Regex": "regex_match",
    "Tool recall": "expected_tools",
    "Tool precision": "min_tool_precision",
    "Sequence similarity": "min_sequence_similarity",
    "Tool calls": "max_tool_calls",
    "Loops": "max_loops",
    "Forbidden tools": "forbidden_tools",
    "Tokens": "max_total_tokens",
    "LLM calls": "max_llm_calls",
    "Latency": "max_latency_ms",
    "Cost": "max_cost_usd",
}


def main() -> None:
    """Judge the file once with words, then as often as asked."""
    path = Path(sys.argv[1])
    query = GoldenQuery.model_validate({"query": QUERY} | CHECKS)
    read = Trace.model_validate_json
    traces = [read(line) for line in path.read_bytes().splitlines()]
    path.write_text("".join(trace.model_dump_json() + "\n" for trace in traces))
    baseline = traces[0]

    def failing(trace: Trace) -> list[str]:
        result = evaluate_query(query, trace, baseline)
        layers = (result.correctness, result.path, result.cost)
        told = [message for layer in layers if layer.status.value != "pass" for message in layer.messages]
        return sorted({key for message in told for words, key in MESSAGES.items() if message.startswith(words)})

    print(json.dumps([failing(trace) for trace in traces]), flush=True)
    del traces
    for _ in sys.stdin:
        started = perf_counter()
        with path.open("rb") as file:
            for line in file:
                evaluate_query(query, read(line), baseline)
        print(perf_counter() - started, flush=True)


if __name__ == "__main__":
    main()
