"""The members of a zip archive, also of those compressed with zstd (method 93), which `zipfile` may not know."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator
from typing import Any

from passmuster._problems import Problem, TraceError
from passmuster.traces._sources import Source
from passmuster.traces._zstd import MISSING_ZSTD, ZstdMissing, unpacked

_ZSTD = 93
_MOST = 1 << 30
"""Bytes that a member may unpack to."""


def is_zip(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a zip archive."""
    return head.startswith(b"PK\x03\x04")


def zip_members(source: Source) -> Iterator[tuple[str, bytes]]:
    """Each member's name and content. Raises `TraceError` for a damaged archive, or if an extra is missing."""
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if member.file_size > _MOST:
                    raise TraceError(Problem(f"its member {member.filename} is larger than 1 GiB", source.name))
                if member.compress_type == _ZSTD:
                    yield member.filename, _zstd(file, member, source)
                else:
                    yield member.filename, archive.read(member)
    except (zipfile.BadZipFile, NotImplementedError, struct.error, OSError, EOFError) as error:
        raise TraceError(Problem(f"the archive is damaged or cut off ({error})", source.name)) from error


def _zstd(file: Any, member: zipfile.ZipInfo, source: Source) -> bytes:
    file.seek(member.header_offset)
    name_length, extra_length = struct.unpack("<HH", file.read(30)[26:30])
    file.seek(member.header_offset + 30 + name_length + extra_length)
    packed = file.read(member.compress_size)
    try:
        return io.BufferedReader(unpacked(io.BytesIO(packed))).read(member.file_size)  # no more than it states
    except ZstdMissing as error:
        raise TraceError(Problem(f"its member {member.filename} {MISSING_ZSTD}", source.name)) from error
    except OSError as error:
        raise TraceError(Problem(f"its member {member.filename} is damaged ({error})", source.name)) from error
