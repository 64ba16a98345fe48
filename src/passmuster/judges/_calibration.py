"""The calibration file: the result of an audit, which says whether judges may block.

A calibration is valid for the very judges that were audited (provider, address, model, temperature, limits, in their
order), for the prompts of this version, until the day it expires, and only if the audit called them usable.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import msgspec
from msgspec import Struct

from passmuster._version import __version__
from passmuster.checks import Example, Kind, Question
from passmuster.judges._answers import SCHEMA as VERDICT_SCHEMA
from passmuster.judges._audit import Audit, Figure
from passmuster.judges._config import JudgeConfig, Member
from passmuster.judges._prompts import PROMPT_VERSION, prompt_for
from passmuster.redaction import SENTENCE_LIMIT, Redactor

SCHEMA = "passmuster.calibration/1"
FILE_NAME = "judge-calibration.json"
"""Where it is kept beside the suite, unless `calibration` says otherwise."""


class Judge(Struct, frozen=True, kw_only=True):
    """The audited judge: everything that could change its verdicts, and no API key."""

    provider: str
    address: str
    model: str
    temperature: float | None
    max_tokens: int
    structured: bool
    sample: int


class Calibration(Struct, frozen=True, kw_only=True):
    """The file."""

    schema: str = SCHEMA
    version: str = __version__
    suite: str
    judges: tuple[Judge, ...]
    prompt_version: int
    prompt_sha256: str
    audited: datetime.date
    expires: datetime.date
    """The last day on which it is valid."""
    audit: Audit


def calibration_of(
    suite: str, members: Sequence[Member], audit: Audit, today: datetime.date, days: int, redactor: Redactor
) -> Calibration:
    """The calibration from an audit made today, valid for this many days, with secrets redacted."""
    return Calibration(
        suite=suite,
        judges=_identities(members),
        prompt_version=PROMPT_VERSION,
        prompt_sha256=prompt_sha256(),
        audited=today,
        expires=today + datetime.timedelta(days=days),
        audit=_safe(audit, redactor),
    )


def calibration_path(config: JudgeConfig, folder: Path) -> Path:
    """Where a suite's calibration is kept."""
    return folder / (config.calibration or FILE_NAME)


def why_invalid(path: Path, members: Sequence[Member], today: datetime.date) -> str | None:
    """Why the file is not valid for these judges today; None where it is."""
    name = path.name
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Calibration)
    except FileNotFoundError:
        return f"there is no calibration {name}"
    except OSError as problem:
        return f"the calibration {name} cannot be read: {problem.strerror or problem}"
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        return f"the calibration {name} is damaged: {problem}"
    if found.schema != SCHEMA:
        return f"the calibration {name} has the schema '{found.schema}', expected '{SCHEMA}'"
    if found.judges != _identities(members):
        return f"the calibration {name} is of other judges: {_difference(found.judges, _identities(members))}"
    if (found.prompt_version, found.prompt_sha256) != (PROMPT_VERSION, prompt_sha256()):
        return f"the calibration {name} was made with other prompts, by version {found.version}"
    if today > found.expires:
        return f"the calibration {name} expired on {found.expires.isoformat()}"
    if not found.audit.usable:
        return f"the calibration {name} says: {found.audit.conclusion}"
    return None


def prompt_sha256() -> str:
    """A hash of all prompts without the questions: it changes with any word of any prompt."""
    kinds = get_args(Kind)
    plain = [Question(kind=kind, rule="", answer="") for kind in kinds]
    full = [
        Question(
            kind=kind,
            rule="rule",
            query="query",
            answer="answer",
            evidence=("evidence",),
            context="context",
            examples=(Example("example", 3, "reason"), Example("example", 3)),
        )
        for kind in kinds
    ]
    prompts = [prompt_for(question) for question in (*plain, *full)]
    told = [[prompt.system, prompt.user, prompt.again("fault").user] for prompt in prompts]
    return hashlib.sha256(json.dumps([told, VERDICT_SCHEMA], sort_keys=True).encode()).hexdigest()


def _identities(members: Sequence[Member]) -> tuple[Judge, ...]:
    # Another key in the address makes no other judge; the suite's own patterns are for what comes from traces.
    return tuple(
        Judge(**{**member.identity, "address": Redactor().hide(member.identity["address"])}) for member in members
    )


def _safe(audit: Audit, redactor: Redactor) -> Audit:
    def named(figures: dict[str, Figure]) -> dict[str, Figure]:
        return {redactor.text(name): figure for name, figure in figures.items()}

    return msgspec.structs.replace(
        audit,
        by_check=named(audit.by_check),
        against_checks=named(audit.against_checks),
        conclusion=redactor.text(audit.conclusion, SENTENCE_LIMIT),
        no_verdict=None if audit.no_verdict is None else redactor.text(audit.no_verdict, SENTENCE_LIMIT),
    )


def _difference(audited: Sequence[Judge], asked: Sequence[Judge]) -> str:
    """The first difference between the audited and the configured judges."""
    if len(audited) != len(asked):
        return f"{len(audited)} were audited, {len(asked)} are configured"
    for one, other in zip(audited, asked, strict=True):
        for key in Judge.__struct_fields__:
            before, now = getattr(one, key), getattr(other, key)
            if before != now:
                return f"{key} {before} was audited, {now} is configured"
    return "no difference"
