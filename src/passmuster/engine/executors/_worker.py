"""A worker process: compiles the suite once, evaluates the parts it is given, hands over one tally.

Orders come on standard input, answers go to standard output.
"""

from __future__ import annotations

import os
from typing import BinaryIO

from passmuster._problems import InputError, OutsideError
from passmuster.engine._evaluation import evaluator
from passmuster.engine._progress import Progress
from passmuster.engine.executors._messages import (
    EvaluatePart,
    PartDone,
    Setup,
    WorkerBroke,
    WorkerTally,
    receive_order,
    refusal,
    send,
)


def work(orders: BinaryIO, answers: BinaryIO) -> None:
    """Do what the parent says until it says to finish."""
    setup = receive_order(orders)
    if not isinstance(setup, Setup):
        return
    job, progress = setup.job(), Progress()
    with evaluator(job, progress) as evaluate:
        while isinstance(order := receive_order(orders), EvaluatePart):
            try:
                evaluate.part(order.part, progress)
            except (InputError, OutsideError) as error:
                send(answers, refusal(order.number, error))
            else:
                send(answers, PartDone(order.number))
    if order is not None:
        send(answers, WorkerTally(evaluate.tally))


def main() -> None:
    """Keep both channels private: what a plugin prints goes to standard error, and it has nothing to read."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed, and the next file to be opened would be taken for it
            os.open(os.devnull, os.O_RDWR)
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        work(orders, answers)
    except BrokenPipeError:  # the parent is gone, and nobody is left to tell
        os._exit(1)
    except Exception:
        import traceback  # late, for it should never be needed

        send(answers, WorkerBroke(traceback.format_exc()))
