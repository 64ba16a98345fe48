"""A checkpoint: what was counted in each finished part, kept in a folder, so that a run that was ended goes on.

A part is kept under a name that depends on all that can change what is counted in it: the suite, the plugins, the
options, the file and the range of bytes. What a file was when it was read is kept besides, so that a changed file is
noticed and read again.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from passmuster._atomic_write import replace_file
from passmuster._problems import OutsideError, Problem, UsageError
from passmuster._version import __version__
from passmuster.checks import plugin_files
from passmuster.engine._encoding import decoded, encoded
from passmuster.engine._execution import PartFiles
from passmuster.engine._parts import Part
from passmuster.engine._plan import Job
from passmuster.scoring import Tally, TallyTree
from passmuster.suite import Suite
from passmuster.traces import mark_of

_ENDING = ".part.json"


class KeptPart(Struct, frozen=True):
    """A finished part."""

    mark: str
    """Changes when the file does."""
    tally: Tally


_kept = msgspec.json.Decoder(KeptPart)


class Restored(Struct, frozen=True):
    """What a checkpoint has of the parts of a run."""

    tally: Tally | None
    missing: list[Part]
    changed: list[str]
    """Files that have changed since a part of them was kept."""


class Checkpoint:
    """The finished parts of one job in a folder."""

    def __init__(self, files: PartFiles) -> None:
        assert files.checkpoint is not None
        self._folder, self._violations, self._job = Path(files.checkpoint), Path(files.violations or ""), files.job

    def keep(self, part: Part, mark: str, tally: Tally) -> None:
        """Write a finished part, whole or not at all."""
        try:
            replace_file(self._path(part), encoded(KeptPart(mark, tally)))
        except OSError as error:
            message = f"cannot write to the checkpoint: {error.strerror or error}"
            raise OutsideError(Problem(message, str(self._folder))) from error

    def restore(self, parts: Sequence[Part]) -> Restored:
        """What is kept of these parts; a part is not if its file has changed or its violations are gone.

        Raises `UsageError` where there can be no such folder.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"--checkpoint: cannot make this folder: {error.strerror or error}"
            raise UsageError(Problem(message, str(self._folder))) from error
        tree = TallyTree()
        missing: list[Part] = []
        changed: dict[str, None] = {}
        marks: dict[str, str] = {}
        for part in parts:
            kept = self._read(part)
            if kept is not None:
                mark = marks.get(part.source.path) or marks.setdefault(part.source.path, mark_of(part.source))
                if kept.mark != mark:
                    changed[part.source.name] = None
                elif all((self._violations / one.file).is_file() for one in kept.tally.written):
                    tree.add(kept.tally)
                    continue
            missing.append(part)
        return Restored(tree.total(), missing, list(changed))

    def _read(self, part: Part) -> KeptPart | None:
        try:
            return decoded(self._path(part).read_bytes(), _kept)
        except (OSError, msgspec.MsgspecError, ValueError, TypeError):  # not kept, or not readable any more
            return None

    def _path(self, part: Part) -> Path:
        return self._folder / f"{part_name(self._job, part)}{_ENDING}"


def part_name(job: str, part: Part) -> str:
    """A name for a part of a job, the same whenever the job is run."""
    told = msgspec.json.encode([job, repr(part.source.path), part.source.format, part.start, part.end])
    return blake2b(told, digest_size=16).hexdigest()


def job_digest(job: Job) -> str:
    """A digest of all that can change what a job counts in a part."""
    suite, settings = job.suite, job.settings
    timeless = replace(settings, strict=False, baseline=None, agent_version=None, today=datetime.date.min)
    told = [
        __version__,
        repr(sorted(suite.documents.items())),
        timeless,
        [waiver.expires < settings.today for waiver in suite.waivers],
        settings.today if suite.prices is not None else None,
        {name: job.golden[name] for name in sorted(job.golden)},
        _plugin_digests(suite),
        job.files.violations_format if job.files.violations else None,
    ]
    return blake2b(encoded(told), digest_size=16).hexdigest()


def _plugin_digests(suite: Suite) -> list[str]:
    """Of the modules that were imported from the suite's folder."""
    files = [Path(file) for file in plugin_files(str(suite.folder))]
    return sorted(blake2b(file.read_bytes(), digest_size=16).hexdigest() for file in files if file.is_file())
