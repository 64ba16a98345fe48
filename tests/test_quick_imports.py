"""The quick imports of the command line leave nothing behind that others could notice."""

import subprocess
import sys

SCRIPT = """
import re, sys
from passmuster.cli import import_quickly

import_quickly()
import msgspec
import yaml
import jsonschema_rs

assert re.compile is not type(yaml.reader.Reader.NON_PRINTABLE), "re.compile is put back"
assert isinstance(re.compile("a"), re.Pattern)
assert yaml.reader.Reader.NON_PRINTABLE.search("a\\x00").start() == 1
found = yaml.load("{day: 2026-01-31, rate: 1.5, on: yes, none: ~, six: 0b110}", Loader=yaml.SafeLoader)
assert str(found) == "{'day': datetime.date(2026, 1, 31), 'rate': 1.5, True: True, 'none': None, 'six': 6}", found
assert jsonschema_rs.is_valid({"format": "email"}, 3)

assert "typing_extensions" not in sys.modules, "it was not needed"
import typing, typing_extensions

shape = typing_extensions.TypedDict("shape", {"a": int, "b": typing_extensions.NotRequired[int]})
assert msgspec.convert({"a": 1}, shape) == {"a": 1}
try:
    msgspec.convert({"b": 1}, shape)
except msgspec.ValidationError:
    pass
else:
    raise AssertionError("what is required is required")

import pathlib

assert not {"urllib.parse", "textwrap"} & set(sys.modules), "they were not needed"
assert pathlib.Path("/a b").as_uri() == "file:///a%20b"
import textwrap, urllib.parse

assert textwrap.dedent("  a") == "a" and urllib.parse.quote("a b") == "a%20b"

class Described(msgspec.Struct):
    'Text.'

assert msgspec.json.schema(Described)["$defs"]["Described"]["description"] == "Text."

assert "platform" not in sys.modules, "it was not needed"
import platform, uuid

assert platform.python_version() and platform.system(), "the real one is imported where it is"
assert uuid.uuid1().version == 1 and uuid.getnode()

assert "email.utils" not in sys.modules, "it was not needed"
from email.utils import formatdate, parsedate_to_datetime

assert parsedate_to_datetime(formatdate(0)).year == 1970, "the real one is imported where it is"
"""

ANOTHER_ATTRIBUTE = """
import sys
from passmuster.cli._quick_imports import _stand_in

with _stand_in("email.utils", parsedate_to_datetime=str):
    from email.utils import formatdate, parsedate_to_datetime

    assert parsedate_to_datetime("Tue, 27 Oct 2026") == "Tue, 27 Oct 2026"
    assert formatdate(0).startswith("Thu, 01 Jan 1970")
assert sys.modules["email.utils"].formatdate is formatdate
"""


def test_imported_modules_work_as_usual() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=120)


def test_what_the_stand_in_lacks_comes_from_the_real_module() -> None:
    subprocess.run([sys.executable, "-c", ANOTHER_ATTRIBUTE], check=True, timeout=120)
