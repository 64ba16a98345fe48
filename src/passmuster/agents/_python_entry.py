"""Calls a Python agent in a process of its own: one line of JSON in and one out for each turn.

This file is run as a script and imports nothing of the package, so that it starts as fast as Python does. What the
agent prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

_COROUTINE = 0x80
"""The flag of an async function; `inspect`, which has it too, takes long to import."""


class Refused(Exception):
    """What was found is not what is expected."""


def main() -> None:
    """Answer lines until there are no more: first what to call, then one line per turn."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)

    def reply(**said: Any) -> None:
        replies.write(json.dumps(said).encode() + b"\n")
        replies.flush()

    asked = json.loads(requests.readline())
    sys.path.insert(0, asked["folder"])
    sys.argv = [asked["module"]]
    try:
        function = _find(asked["module"], asked["function"])
    except BaseException as error:
        reply(failed=_described(error, asked["folder"]))
        return
    reply(found=True)
    conversation: list[Any] = []
    runner: Any = None
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & _COROUTINE:
        import asyncio  # here, so that it does not count as the agent's time
    for line in requests:
        turn = json.loads(line)
        conversation.append({"role": "user", "content": turn["query"]})
        try:
            started = perf_counter()
            value = function(conversation if turn["of"] > 1 else turn["query"])
            if hasattr(value, "__await__"):
                import asyncio

                runner = runner or asyncio.Runner()
                value = runner.run(_awaited(value))
            took = (perf_counter() - started) * 1000
            written = _written(value)
        except BaseException as error:
            reply(failed=_described(error, asked["folder"]))
            return
        _go_on(conversation, written)
        reply(returned=written, ms=took)
    if runner is not None:
        runner.close()


async def _awaited(value: Any) -> Any:
    return await value


def _find(module: str, function: str) -> Callable[[Any], Any]:
    import importlib

    found: Any = importlib.import_module(module)
    for name in function.split("."):
        if not hasattr(found, name):
            import difflib

            known = [one for one in dir(found) if not one.startswith("_")]
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise Refused(f"{module} has no '{function}'{hint}")
        found = getattr(found, name)
    if not callable(found):
        raise Refused(f"{module}:{function} is {type(found).__name__}, expected a function")
    return found  # type: ignore[no-any-return]


def _written(value: Any) -> Any:
    """What a function returned as plain JSON data."""
    if value is None or isinstance(value, bytes | bool | int | float):
        raise Refused(f"returned {value!r:.80}, expected text, messages, a dict or a Trace")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        from passmuster.traces import plain_data  # late, for most agents return plain data

        return plain_data(value)
    return value


def _go_on(conversation: list[Any], returned: Any) -> None:
    """Add what the agent said to the conversation, which it may have returned whole."""
    said = returned.get("messages") if isinstance(returned, dict) else returned
    if isinstance(said, list):
        known = len(conversation)
        conversation[:] = said if said[:known] == conversation else [*conversation, *said]
    else:
        text = returned.get("answer") if isinstance(returned, dict) else returned
        conversation.append({"role": "assistant", "content": text})


def _described(error: BaseException, folder: str) -> str:
    """The error and the line of the agent's own code that it came from."""
    place, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(folder + os.sep):
            place = f" ({file[len(folder) + 1 :]}:{trace.tb_lineno})"
        trace = trace.tb_next
    if isinstance(error, Refused):
        return str(error)
    return f"{type(error).__name__}: {error}{place}"


if __name__ == "__main__":
    main()
