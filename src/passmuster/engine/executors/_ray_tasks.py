"""What runs on the workers of a Ray cluster: evaluating one part, and merging tallies.

Values come and go as bytes. A worker compiles the suite once, and keeps it for the parts that it is given later.
"""

from __future__ import annotations

import contextlib
import sys
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from passmuster._problems import InputError, OutsideError, Problem
from passmuster._version import __version__
from passmuster.engine._encoding import decoded, encoded
from passmuster.engine._evaluation import evaluator
from passmuster.engine._parts import Part
from passmuster.engine._progress import Progress
from passmuster.engine.executors._messages import PartDone, PartRefused, Setup, WorkerBroke, refusal
from passmuster.scoring import Tally, TallyTree

if TYPE_CHECKING:
    from passmuster.engine._evaluation import Evaluator

PartResult = PartDone | PartRefused | WorkerBroke


class Task(Struct, frozen=True):
    """What all parts of a run have in common."""

    version: str
    setup: Setup


tasks = msgspec.json.Decoder(Task)
parts = msgspec.json.Decoder(Part)
results: msgspec.json.Decoder[PartResult] = msgspec.json.Decoder(PartResult)
tallies = msgspec.json.Decoder(Tally)

_ready: dict[str, tuple[Evaluator, contextlib.ExitStack]] = {}
"""The suite that was compiled last, by the digest of its task."""


def evaluate_part(task: bytes, number: int, part: bytes) -> tuple[bytes, bytes]:
    """How evaluating a part ended, and what was counted in it."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            evaluate = _evaluator(task)
            evaluate.begin()
            evaluate.part(decoded(part, parts), Progress())
            evaluate.finish()
        return encoded(PartDone(number)), encoded(evaluate.tally)
    except (InputError, OutsideError) as error:
        return encoded(refusal(number, error)), b""
    except Exception:
        import traceback  # late, for it should never be needed

        return encoded(WorkerBroke(traceback.format_exc())), b""


def merge_tallies(*counted: bytes) -> bytes:
    """One tally of several."""
    tree = TallyTree()
    for one in counted:
        tree.add(decoded(one, tallies))
    return encoded(tree.total())


def _evaluator(task: bytes) -> Evaluator:
    name = blake2b(task, digest_size=16).hexdigest()
    if name not in _ready:
        while _ready:
            _ready.popitem()[1][1].close()
        stated = decoded(task, tasks)
        if stated.version != __version__:
            found = f"passmuster {__version__} on a node of the cluster, {stated.version} here"
            raise OutsideError(Problem(f"{found}: install the same version on all nodes"))
        stack = contextlib.ExitStack()
        _ready[name] = stack.enter_context(evaluator(stated.setup.job(), Progress())), stack
    return _ready[name][0]
