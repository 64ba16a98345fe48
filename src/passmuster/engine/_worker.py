"""A worker process: compiles the suite once, judges the parts it is given, hands over one tally.

Orders come on standard input, answers go to standard output.
"""

from __future__ import annotations

import os
from typing import BinaryIO

from passmuster._problems import InputError, SuiteError
from passmuster.engine._load_suite import load_suite
from passmuster.engine._messages import Counted, Judge, Refused, Setup, Tallied, receive_order, send
from passmuster.engine._plan import compile_suite, select
from passmuster.engine._run import count_part, hearing

__all__ = ["main", "work"]


def work(orders: BinaryIO, answers: BinaryIO) -> None:
    """Do what the parent says until it says to finish."""
    setup = receive_order(orders)
    if not isinstance(setup, Setup):
        return
    settings = setup.settings
    suite = load_suite(setup.suite, root=setup.root, plugins=setup.plugins, documents=setup.documents)
    plan = compile_suite(
        select(suite, settings.only, settings.tags),
        settings.today,
        setup.golden,
        judges_only_warn=settings.uncalibrated is not None,
    )
    tally = plan.tally()
    with hearing(plan, tally, settings) as take:
        while isinstance(order := receive_order(orders), Judge):
            try:
                count_part(take, tally, order.part, settings.skip_bad_lines, figures=plan.asks_figures)
            except InputError as error:
                send(answers, Refused(order.number, error.problems, isinstance(error, SuiteError)))
            else:
                send(answers, Counted(order.number))
    if order is not None:
        send(answers, Tallied(tally))


def main() -> None:
    """Keep the channels to ourselves: what a plugin prints goes to standard error, and it has nothing to read."""
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
