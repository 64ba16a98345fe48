"""`waivers:`, violations that somebody has answered for until the end of a day."""

from __future__ import annotations

import datetime

from msgspec.structs import replace

from passmuster._problems import did_you_mean
from passmuster.suite._context import Context
from passmuster.suite._model import Suite, Waiver
from passmuster.suite.grammar import _globs as globs
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Node

__all__ = ["KEYS", "read_waivers"]

KEYS = ("test", "tool", "scenario", "reason", "expires")


def read_waivers(context: Context, suite: Suite, node: Node) -> Suite:
    """The waivers. `test`, `reason` and `expires` are required, and what they name has to be there."""
    read = context.reader.each(node, "waivers", lambda item, at: _waiver(context.reader, suite, item, at))
    return replace(suite, waivers=tuple(waiver for waiver in read if waiver is not None))


def _waiver(reader: Reader, suite: Suite, node: Node, at: str) -> Waiver | None:
    map_ = reader.mapping(node, at, KEYS)
    test, reason, expires = (reader.required(map_, key, at) for key in ("test", "reason", "expires"))
    tool, scenario = map_.get("tool"), map_.get("scenario")
    pattern = reader.pattern(tool, f"{at}.tool") if tool is not None else None
    known = _scenario(reader, suite, scenario, f"{at}.scenario") if scenario is not None else None
    if test is None or reason is None or expires is None:
        return None
    return Waiver(
        test=_test(reader, suite, test, f"{at}.test"),
        reason=reader.text(reason, f"{at}.reason"),
        expires=_day(reader, expires, f"{at}.expires"),
        tool=pattern,
        scenario=known,
        line=node.line,
    )


def _test(reader: Reader, suite: Suite, node: Node, at: str) -> str:
    id_ = reader.text(node, at)
    ids = [test.id for test in suite.tests]
    if id_ and id_ not in ids:
        reader.problem(node, f"{at}: no test '{id_}'{did_you_mean(id_, ids)}")
    return id_


def _scenario(reader: Reader, suite: Suite, node: Node, at: str) -> str:
    """The glob of the scenarios that a waiver is limited to; an id as it stands means just that one."""
    text = reader.text(node, at)
    ids = [scenario.id for scenario in suite.scenarios]
    if text in ids:
        return globs.escape_glob(text)
    if text and not any(map(globs.glob_matcher(text), ids)):
        why = globs.why_bad_glob(text) or f"no scenario '{text}'{did_you_mean(text, ids)}"
        reader.problem(node, f"{at}: {why}")
    return text


def _day(reader: Reader, node: Node, at: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(reader.text(node, at))
    except ValueError:
        reader.expected("a day such as 2027-01-31", node, at)
        return datetime.date.min
