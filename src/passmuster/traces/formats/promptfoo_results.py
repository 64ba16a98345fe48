"""Results of promptfoo: what `promptfoo eval -o results.json` (or `.jsonl`) writes, a trace per result.

A result has the prompt and the output of a provider. Calls are only known where the output is a list of calls, as
providers return them that were given tools; what an agent behind a provider did to get its answer is not recorded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading, fault_of
from passmuster.traces._message_parts import Lose
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, each_record
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

DESCRIPTION = "Results of promptfoo, as `promptfoo eval -o` writes them: a trace per result."
SHAPE = '{"evalId": …, "results": {"results": [{"prompt": {…}, "response": {"output": …}}]}}'
LACKS = ("agents", "handoffs", "groups")


def detect(record: Fields) -> float:
    """Sure of an evaluation, and of a single result."""
    if "evalId" in record and b'"results"' in bytes(record.get("results", b"")):
        return 1
    return 0.97 if all(key in record for key in ("promptIdx", "testIdx", "response")) else 0


def splittable(first: Fields) -> bool:
    """Every record stands alone."""
    return True


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per result."""
    for record in records:
        runs: list[RunLog] = []

        def add(fields: Mapping[str, Any], record: Record, lose: Lose, runs: list[RunLog] = runs) -> None:
            runs += [_run(result, record, index, lose) for index, result in enumerate(_results(fields, record))]

        each_record(iter((record,)), reading, add)
        for run in runs:
            yield run.trace(reading, "results")


def _results(fields: Mapping[str, Any], record: Record) -> list[Mapping[str, Any]]:
    if "results" not in fields:
        return [fields]
    inner = fields["results"]
    results = inner.get("results") if isinstance(inner, Mapping) else inner
    if not isinstance(results, list) or not all(isinstance(result, Mapping) for result in results):
        raise BadRecord(record.offset, "is an evaluation of promptfoo whose 'results' are no list of objects")
    return results


def _run(result: Mapping[str, Any], record: Record, index: int, lose: Lose) -> RunLog:
    run = RunLog(record, trace_id=result["id"] if isinstance(result.get("id"), str) else None)
    prompt, response = _map(result, "prompt"), _map(result, "response")
    if not prompt and not response:
        raise BadRecord(record.offset, "is no result of promptfoo: it has no 'prompt' and no 'response'")
    query = prompt.get("raw")
    run.query = query if isinstance(query, str) else None
    spent = _map(response, "tokenUsage")
    usage = usage_of({"input_tokens": spent.get("prompt"), "output_tokens": spent.get("completion")})
    output = response.get("output")
    if _are_calls(output):
        turn = turns_of_message({"role": "assistant", "tool_calls": output}, lose)
        for one in turn:
            one.usage = usage
            run.add(one, record, index)
    else:
        run.calls_unknown = True
        text = output if isinstance(output, str) or output is None else json.dumps(output, ensure_ascii=False)
        run.add(Turn("assistant", text, usage=usage), record, index)
        run.answer = text
    for key, found in (("total_duration_ms", result.get("latencyMs")), ("total_cost_usd", result.get("cost"))):
        if isinstance(found, int | float) and not isinstance(found, bool) and found > 0:
            setattr(run, key, found)
    if output is None and (error := response.get("error") or result.get("error")):
        run.error = fault_of(error)
    return run


def _are_calls(output: Any) -> bool:
    """Whether the output of a provider is the calls that its model asks for."""
    if not isinstance(output, list) or not output:
        return False
    return all(isinstance(one, Mapping) and isinstance(one.get("function"), Mapping) for one in output)


def _map(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return value if isinstance(value := holder.get(key), Mapping) else {}
