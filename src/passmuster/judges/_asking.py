"""Answers questions with verdicts: from the cache, or from the judges.

Every text passes the redactor before it is sent, hashed or stored. Each question has a redactor of its own, so that
what a judge sees, and with it the cache key, does not depend on the questions before it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct

from passmuster.checks import JudgeFailure, Question, Verdict
from passmuster.judges._answers import Opinion
from passmuster.judges._cache import CacheError, Entry, cache_key, load, save
from passmuster.judges._config import JudgeConfig, Member
from passmuster.judges._prompts import Prompt, prompt_for
from passmuster.judges._redact_quotes import hidden
from passmuster.redaction import SENTENCE_LIMIT, Redactor

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from passmuster.judges._calling import Caller

T = TypeVar("T")

Mode = Literal["live", "cached", "off"]
Progress = Callable[[int, int], None]
"""Called with the number of answered requests and the number of all."""

_SAVE_EVERY = 20
_HINT = 60
_LONG_ANSWER = 40


class _Ask(Struct, frozen=True):
    """One question to one judge."""

    key: str
    question: Question
    prompt: Prompt
    member: Member


class JudgeUsage(Struct):
    """What judges were asked so far."""

    questions: int = 0
    calls: int = 0
    """Requests that were sent; the other questions were answered from the cache, or asked before."""
    spent_usd: float = 0.0
    unpriced: int = 0
    """Requests whose price is not known."""


class Judges:
    """The judges of one run. Verdicts, costs and failures are remembered from one batch to the next.

    Raises `CacheError` if the file of earlier verdicts is damaged, and `ValueError` if there is a cap on the cost and a
    price is not known. To be closed, or used in a `with` statement.
    """

    def __init__(
        self,
        config: JudgeConfig | None,
        mode: Mode,
        cache_path: str | Path | None,
        progress: Progress | None = None,
        *,
        new_redactor: Callable[[], Redactor] = Redactor,
        environment: Mapping[str, str] | None = None,
        note: Callable[[str], None] | None = None,
    ) -> None:
        if why := next(config.unpriced(), None) if config else None:
            raise ValueError(why)
        self._config, self._mode = config, mode
        self._path = None if cache_path is None else Path(cache_path)
        self._progress = progress or _tell_nobody
        self._new_redactor = new_redactor
        self._environment = os.environ if environment is None else environment
        self._votes: dict[str, Opinion] = {}
        if config is not None and mode != "off" and self._path is not None:
            earlier = load(self._path)
            self._votes = {key: Opinion(entry.score, entry.reason) for key, entry in earlier.items()}
        self._store = _Store(self._path, new_redactor, note or _to_standard_error)
        self._line: _Line | None = None
        self.use = JudgeUsage()

    def __enter__(self) -> Judges:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all connections."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def forget(self) -> None:
        """Forget all verdicts, so that everything is asked again. Costs still count."""
        self._votes.clear()

    def ask(self, questions: Sequence[Question]) -> list[Verdict | JudgeFailure | None]:
        """A verdict for each question, in order; the failure where there is none; `None` when judges are off.

        Equal questions are asked once.
        """
        if self._mode == "off":
            return [None] * len(questions)
        self.use.questions += len(questions)
        if self._config is None:
            return [JudgeFailure(_UNCONFIGURED)] * len(questions)
        config = self._config
        asks = [_asks(question, config, self._new_redactor()) for question in questions]
        failures: dict[str, JudgeFailure] = {}
        missing: dict[str, _Ask] = {}
        for ask in (ask for jury in asks for ask in jury):
            if ask.key in self._votes:
                continue
            if self._mode == "cached":
                failures[ask.key] = JudgeFailure(_not_cached(ask.member, self._path))
            else:
                missing[ask.key] = ask
        if missing:
            self._line = self._line or _Line(config, self._environment)
            failures |= self._line.run(self._call(list(missing.values()), self._line.caller, config.concurrency))
            caller = self._line.caller
            self.use.calls, self.use.spent_usd, self.use.unpriced = caller.calls, caller.spent, caller.unpriced
        votes: dict[str, Opinion | JudgeFailure] = {**self._votes, **failures}
        return [_verdict(jury, votes) for jury in asks]

    async def _call(self, asks: Sequence[_Ask], caller: Caller, concurrency: int) -> dict[str, JudgeFailure]:
        """Ask, remember the votes, and return the failures."""
        import asyncio

        failures: dict[str, JudgeFailure] = {}
        done = 0
        self._progress(0, len(asks))
        waiting: Iterator[_Ask] = iter(asks)

        async def work() -> None:
            nonlocal done
            for ask in waiting:
                opinion = await caller.ask(ask.prompt, ask.member)
                if isinstance(opinion, JudgeFailure):
                    failures[ask.key] = opinion
                else:
                    entry = self._store.add(ask, opinion.score, opinion.reason)
                    self._votes[ask.key] = Opinion(entry.score, entry.reason)
                done += 1
                self._progress(done, len(asks))

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(asks))):
                    group.create_task(work())
        finally:
            self._store.flush()  # what has been paid for is kept, however the run ends
        return failures


class _Line:
    """The connection to the judges: one event loop for all batches of a run, also where one already runs."""

    def __init__(self, config: JudgeConfig, environment: Mapping[str, str]) -> None:
        import asyncio

        from passmuster.judges._calling import Caller

        self.caller = Caller(config, environment)
        self._runner = asyncio.Runner()
        self._thread: ThreadPoolExecutor | None = None
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        from concurrent.futures import ThreadPoolExecutor

        self._thread = ThreadPoolExecutor(1)  # as in a notebook

    def run(self, asking: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end."""
        if self._thread is None:
            return self._runner.run(asking)
        return self._thread.submit(self._runner.run, asking).result()

    def close(self) -> None:
        """Ends the connections and the loop."""
        try:
            self.run(self.caller.close())
        finally:
            if self._thread is None:
                self._runner.close()
            else:
                self._thread.submit(self._runner.close).result()
                self._thread.shutdown()


def ask_all(
    questions: Sequence[Question],
    config: JudgeConfig | None,
    mode: Mode,
    cache_path: str | Path | None,
    progress: Progress | None = None,
    *,
    new_redactor: Callable[[], Redactor] = Redactor,
    environment: Mapping[str, str] | None = None,
    note: Callable[[str], None] | None = None,
) -> list[Verdict | JudgeFailure | None]:
    """The verdicts of `Judges` on one batch of questions."""
    with Judges(
        config, mode, cache_path, progress, new_redactor=new_redactor, environment=environment, note=note
    ) as judges:
        return judges.ask(questions)


def _asks(question: Question, config: JudgeConfig, redactor: Redactor) -> list[_Ask]:
    safe = hidden(question, redactor)
    prompt = prompt_for(safe)
    return [_Ask(cache_key(safe, prompt, member), safe, prompt, member) for member in config.members]


class _Store:
    """Verdicts that are not yet written to the cache."""

    def __init__(self, path: Path | None, new_redactor: Callable[[], Redactor], note: Callable[[str], None]) -> None:
        self._path = path
        self._new_redactor = new_redactor
        self._note = note
        self._entries: list[Entry] = []

    def add(self, ask: _Ask, score: int, reason: str) -> Entry:
        """The verdict as it is shown and stored: without secrets, and without the whole answer."""
        answer = ask.question.answer.strip()
        if len(answer) > _LONG_ANSWER:
            reason = reason.replace(answer, "[the answer]")
        entry = Entry(
            key=ask.key,
            kind=ask.question.kind,
            model=ask.member.model,
            score=score,
            reason=self._new_redactor().text(reason, SENTENCE_LIMIT),
            hint=_hint(ask.question),
        )
        self._entries.append(entry)
        if len(self._entries) >= _SAVE_EVERY:
            self.flush()
        return entry

    def flush(self) -> None:
        """Write pending verdicts. A file that cannot be written gives a message and changes no verdict."""
        if self._path is None or not self._entries:
            return
        try:
            save(self._path, self._entries)
        except (OSError, CacheError) as problem:
            self._note(f"the judges' verdicts were not saved in {self._path}: {problem}")
            self._path = None
        self._entries = []


def _verdict(jury: Sequence[_Ask], votes: Mapping[str, Opinion | JudgeFailure]) -> Verdict | JudgeFailure:
    """The verdict of an ensemble: the lower median, so that a tie fails. If one member fails there is no verdict."""
    opinions: list[Opinion] = []
    for ask in jury:
        vote = votes[ask.key]
        if isinstance(vote, JudgeFailure):
            return vote if len(jury) == 1 else JudgeFailure(f"one of {len(jury)} judges has no vote: {vote.message}")
        opinions.append(vote)
    score = sorted(vote.score for vote in opinions)[(len(opinions) - 1) // 2]
    return Verdict(
        score=score,
        reason=next(vote.reason for vote in opinions if vote.score == score),
        votes=tuple(vote.score for vote in opinions) if len(opinions) > 1 else (),
    )


_UNCONFIGURED = "no judge is configured: give the suite a judge_config with a provider and a model"


def _not_cached(member: Member, path: Path | None) -> str:
    remedy = "run once with --judge live and a key, and commit the file"
    if path is None:
        return f"judge {member.name}: --judge cached needs a file of verdicts: name one as `cache` in judge_config"
    if not path.exists():
        return f"judge {member.name}: there is no file of verdicts {path.name}: {remedy}"
    return f"judge {member.name}: this question has no verdict in {path.name}: {remedy}"


def _hint(question: Question) -> str:
    texts = [question.rule, question.query or ""]
    # Hidden already; a redactor cuts without leaving half of a hidden mark.
    return " | ".join(Redactor().text(" ".join(text.split()), _HINT) for text in texts if text.strip())


def _to_standard_error(message: str) -> None:
    print(f"passmuster: {message}", file=sys.stderr)


def _tell_nobody(done: int, total: int) -> None:
    """The default: report no progress."""
