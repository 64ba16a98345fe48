"""The files that the page is made of, joined to one style sheet and one script.

The scripts are modules. A page that is one file cannot import others, so they are joined in the order in which they
need each other, without their `import` lines and `export` words; no top-level name is declared in two of them.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from msgspec import Struct

_FOLDER = Path(__file__).with_name("_page")
_ORDER = ("dom", "data", "marks", "route", "gate", "timeline", "detail", "table", "groups", "metrics", "whatif", "main")
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./\w+\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


class Assets(Struct, frozen=True):
    """What every page has in common."""

    template: str
    style: str
    script: str
    policy: str
    """The content security policy: this script, this style and nothing else."""


@cache
def assets() -> Assets:
    """The joined files."""
    style = _read("style.css")
    script = "\n".join(_EXPORT.sub("", _IMPORT.sub("", _read(f"{name}.js"))) for name in _ORDER)
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )
    return Assets(_read("page.html"), style, script, policy)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
