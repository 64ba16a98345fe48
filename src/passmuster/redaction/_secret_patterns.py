"""What a secret looks like: where in a text one stands, and which argument names hold one.

Every pattern is searched in time linear in the text. A token may begin only where no token character stands
before it, so that a search cannot start again inside a long run; repetitions that could be undone are possessive.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from functools import cache, lru_cache

Span = tuple[int, int]

_C = "[A-Za-z0-9_-]"
_ANY = "[A-Za-z0-9]"

_TOKENS: dict[str, str] = {
    "sk-": rf"(?:{_C}{{16,}}|(?=[A-Za-z_-]{{0,15}}[0-9]){_C}{{8,15}})",
    **{f"{kind}_{mode}_": rf"{_ANY}{{8,}}" for kind in ("sk", "rk") for mode in ("live", "test")},
    "whsec_": r"[A-Za-z0-9+/=]{16,}",
    "AKIA": r"[A-Z0-9]{12,}",
    "ASIA": r"[A-Z0-9]{12,}",
    "AIza": rf"{_C}{{20,}}",
    "ya29.": rf"{_C}{{10,}}",
    "GOCSPX-": rf"{_C}{{16,}}",
    **{f"gh{kind}_": rf"{_ANY}{{16,}}" for kind in "pousr"},
    "github_pat_": r"[A-Za-z0-9_]{16,}",
    **{f"gl{kind}-": rf"{_C}{{16,}}" for kind in ("pat", "ptt", "dt", "rt", "cbt", "soat")},
    **{f"xox{kind}-": r"[A-Za-z0-9-]{8,}" for kind in "abeoprs"},
    "xapp-": r"[A-Za-z0-9-]{16,}",
    "hooks.slack.com/services/": r"[A-Za-z0-9/]{16,}",
    "hf_": rf"{_ANY}{{16,}}",
    "npm_": rf"{_ANY}{{16,}}",
    "SG.": rf"{_C}{{10,}}\.{_C}{{10,}}",
    "pypi-": rf"(?:Ag{_C}{{8,}}|{_C}{{40,}})",
    "dckr_pat_": rf"{_C}{{16,}}",
    "dop_v1_": r"[a-f0-9]{16,}",
    "shpat_": r"[A-Fa-f0-9]{16,}",
    "lsv2_": r"(?:pt|sk)_[A-Za-z0-9_]{16,}",
    "gsk_": rf"{_ANY}{{20,}}",
    "xai-": rf"{_C}{{20,}}",
    "nvapi-": rf"{_C}{{20,}}",
    "hvs.": rf"{_C}{{20,}}",
    "AGE-SECRET-KEY-1": r"[0-9A-Z]{16,}",
    # A JWT, also without its signature; a JWE has five parts.
    "eyJ": rf"{_C}{{5,}}+(?:\.eyJ{_C}*+(?:\.{_C}++){{0,3}}|\.{_C}*+\.{_C}*+(?:\.{_C}++){{0,2}})",
}


@cache
def _token(prefix: str) -> re.Pattern[str]:
    """The prefix at the beginning of a word or after an escape (`%20`, a literal `\\n`), then the rest of the token.

    The prefix comes before the look behind it, since a search for a literal is the fast one.
    """
    literal = re.escape(prefix)
    begins = rf"(?:(?<!{_C}{literal})|(?<=%[0-9A-Fa-f]{{2}}{literal})|(?<=\\[nrt]{literal}))"
    return re.compile(literal + begins + _TOKENS[prefix])


# Patterns stay text until `re` compiles and keeps them at first use: most runs meet no secret.
_PEM = r"-----BEGIN [A-Z0-9 ]{1,60}-----(?s:.*?)(?:-----END [A-Z0-9 ]{1,60}-----|\Z)"
_URL = r"""://[^\s/?#:@"'<>]{0,256}+:([^\s/?#"'<>]{1,512})@"""
_SCHEME = r"(?:bearer|basic)[ \t:]{1,3}([a-z0-9._~+/=%-]{6,})"

_NAME_END = (
    r"pass(?:wor|w)d|passphrase|passcode|pwd|secret|token|cookie|authorization|credentials?"
    r"|(?:api|access|private|secret|signing|encryption|account|ssh)[_-]?key"
)
_VALUE = (
    r"(?:(?:bearer|basic|token|digest)[ \t]{1,3})?"
    r"""(?:\\"([^"\\]++)|"((?:[^"\\]|\\.)++)|'((?:[^'\\]|\\.)++)|([^\s"'`,;&<>\\({\[][^\s"'`,;&<>\\]*+))"""
)
_ASSIGNED = rf"""({_NAME_END})(?:\\?["'])?\s{{0,3}}(?:=>|:=|==?|:)\s{{0,3}}{_VALUE}"""
_OPTION = rf"({_NAME_END})[ \t]{{1,3}}(?={_VALUE})"
_NAME_HINTS = ("passw", "passphrase", "passcode", "pwd", "secret", "token", "cookie", "authoriz", "credential", "key")
_NAME_CHARACTERS = string.ascii_letters + string.digits + "_-"

# Words that follow `token:` or `Bearer` in a sentence about one.
_PLAIN_WORDS = frozenset(
    [
        *("true", "false", "null", "none", "undefined", "required", "missing", "string", "number", "integer"),
        *("expected", "must", "should", "is", "was", "not", "has", "the", "a", "an", "value", "values"),
        *("auth", "token", "tokens", "authentication", "authorization", "scheme"),
    ]
)

_SECRET_NAME = (
    r"(?:pass(?:wor|w)d|passphrase|passcode|pwd|secret|token|cookie|authorization|credentials?|cardnumber"
    r"|socialsecuritynumber|(?:api|access|private|secret|signing|encryption|account|ssh)key)s?\Z"
)
_SECRET_WORDS = frozenset({"ssn", "otp", "cvv", "cvc"})
# `tokens` is a count more often than not; a token for the next page opens nothing.
_PLAIN_NAME = r"(?:tokens|(?:page|next|continuation|sync|pagination|max|min|total|num|stop|eos|bos|pad)token)\Z"
_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"


def secret_spans(text: str) -> list[Span]:
    """Where secrets stand in the text, in no order, possibly overlapping."""
    if len(text) < 5:
        return []
    spans: list[Span] = []
    for prefix in _TOKENS:
        if prefix in text:
            spans += [found.span() for found in _token(prefix).finditer(text)]
    if "-----BEGIN " in text:
        spans += [found.span() for found in re.finditer(_PEM, text)]
    if "://" in text and "@" in text:
        spans += [found.span(1) for found in re.finditer(_URL, text)]
    # Small letters make the search several times faster than ignoring case; `İ` alone would become two.
    lower = text.replace("İ", "i").lower()
    if "bearer" in lower or "basic" in lower:
        spans += [found.span(1) for found in re.finditer(_SCHEME, lower) if _is_credential(text, found)]
    if any(hint in lower for hint in _NAME_HINTS):
        spans += _assigned(text, lower)
    return spans


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether an argument of this name holds a secret: `api_key`, `dbPassword`, not `max_tokens`."""
    words = [word.lower() for word in re.findall(_WORD, name)]
    joined = "".join(words)
    if not joined or re.search(_PLAIN_NAME, joined):
        return False
    return bool(re.search(_SECRET_NAME, joined)) or words[-1] in _SECRET_WORDS


def _assigned(text: str, lower: str) -> Iterable[Span]:
    if "=" in text or ":" in text:
        for found in re.finditer(_ASSIGNED, lower):
            if is_secret_name(_before(text, found.end(1))) and (span := _value_span(found)):
                yield span
    if "--" in text:
        for found in re.finditer(_OPTION, lower):
            if _before(text, found.start()).startswith("--") and (span := _value_span(found)):
                yield span


def _before(text: str, end: int) -> str:
    """The name, or part of one, that stands directly before a place."""
    near = text[max(0, end - 80) : end]
    return near[len(near.rstrip(_NAME_CHARACTERS)) :]


def _value_span(found: re.Match[str]) -> Span | None:
    group = next(number for number in (2, 3, 4, 5) if found[number])
    start, stop = found.span(group)
    if group == 5:
        kept = found[group].rstrip(")]}.")
        stop = start + len(kept)
        if kept in _PLAIN_WORDS:
            return None
    return (start, stop) if stop > start else None


def _is_credential(text: str, found: re.Match[str]) -> bool:
    if found[1].rstrip(".") in _PLAIN_WORDS or text[found.start() - 1 : found.start()].isalnum():
        return False
    # "Basic validation" is English; base64 of any user and password has a capital, a digit or padding inside.
    rest = text[found.start(1) + 1 : found.end(1)]
    return found[0].startswith("bearer") or any(char.isupper() or char in "0123456789=" for char in rest)
