"""What a reader cannot account for refuses its record, or is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.traces.building import lines, source_of, trace, write

from passmuster.traces import Loss, Spot
from passmuster.traces._building import Reading
from passmuster.traces._reading import BadLines
from passmuster.traces._records import BadRecord


def reading(path: Path, *, accept_loss: bool) -> tuple[Reading, list[Loss]]:
    bad = BadLines(source_of(path), skip=False)
    return Reading(source_of(path), bad, {}, accept_loss=accept_loss, on_loss=bad.losses.append), bad.losses


def test_what_could_hold_a_call_refuses_its_record(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", lines(trace()))
    one, losses = reading(path, accept_loss=False)
    with pytest.raises(BadRecord, match=r"a part of type 'x'.*--accept-loss") as caught:
        one.lose(7, "a part of type 'x'")
    assert (caught.value.offset, losses) == (7, [])


@pytest.mark.parametrize(("accept", "may_hold_call"), [(True, True), (True, False), (False, False)])
def test_any_other_loss_is_reported(tmp_path: Path, accept: bool, may_hold_call: bool) -> None:
    path = write(tmp_path / "t.jsonl", lines(trace()))
    one, losses = reading(path, accept_loss=accept)
    one.lose(7, "an image", may_hold_call=may_hold_call)
    assert losses == [Loss(Spot("t.jsonl", 7, path=str(path)), "an image", may_hold_call)]
