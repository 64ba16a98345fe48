"""What a secret looks like in a text: tokens, PEM blocks, passwords in addresses, assignments, headers and commands.

Every pattern is searched in time linear in the text: repetitions are bounded, or possessive where they could be undone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from passmuster.redaction._secret_names import NAME_END, TRAILING, is_secret_name
from passmuster.redaction._token_shapes import Span, token_spans

# Patterns stay text until `re` compiles and keeps them at first use: most runs meet no secret. Those below `_PEM`, but
# for addresses, search a text in small letters: several times faster than ignoring case.
_PEM = r"-----BEGIN [A-Z0-9 ]{1,60}-----(?s:.*?)(?:-----END [A-Z0-9 ]{1,60}-----|\Z)"
_ADDRESS = r"""://[^\s/?#:"'<>]{0,256}+:(?![0-9]{1,5}(?:[/?#]|\Z))([^\s"'<>]{1,600}+)"""
_USER_ONLY = r"""://([A-Za-z0-9_~.%-]{20,256}+)@"""
_HOST = r"""@(?=(?:localhost|[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){1,20}|\[[0-9a-f:.]{2,45}\])(?:[:/?#,;)\]}\\]|\Z))"""
_DSN = r"""[\w.-]{1,64}:([^\s@:/"']{1,256})@(?:tcp|unix)\("""
_SCHEME = r"(?:bearer|basic|ssws)[ \t:]{1,3}([a-z0-9._~+/=%-]{6,})"

_VALUE = (
    r"(?:(?:bearer|basic|token|digest|apikey|api-key|negotiate|ssws)[ \t]{1,3})?"
    r"""(?:\\{1,7}"([^"\\]++)|"((?:[^"\\]|\\.)++)|'((?:[^'\\]|\\.)++)|([^\s"'`,;&<>\\({\[][^\s"'`,;&<>\\]*+))"""
)
_NAME = rf"((?:{NAME_END}){TRAILING})"
_ASSIGNED = rf"""{_NAME}(?:\\{{0,7}}["']\]?)?\s{{0,3}}(?:=>|:=|==?|:|%3[ad])\s{{0,3}}{_VALUE}"""
_OPTION = rf"{_NAME}[ \t]{{1,3}}(?={_VALUE})"
_NAME_HINTS = (
    *(
        "pass",
        "pwd",
        "pw",
        "psw",
        "secret",
        "token",
        "authoriz",
        "credential",
        "key",
        "jwt",
        "otp",
        "cvv",
        "cvc",
        "ssn",
    ),
    *("ssn", "kennwort", "contrasena", "senha", "wachtwoord", "mnemonic", "number"),
)
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_COOKIE = r"""cookie(?:\\?["'])?\s{0,3}[:=]\s{0,3}(?:\\?["'])?([^\s"'=\\]{1,256}=[^"'\r\n\\]{1,4096}+)"""
_SIGNED = (
    r"(?<![a-z0-9_-])(?:x-(?:amz|goog)-(?:signature|credential|security-token)|signature|sig|hmac|hdne[ats]|hdnts"
    r"|googleaccessid|key-pair-id)=([a-z0-9%+/=_~.-]{8,}+)"
)
_ELEMENT = r"<([a-z0-9_:.-]{1,80}+)(?:\s[^<>]{0,200}+)?>([^<>]{1,512}+)</"
_LOGIN = r"""(?<![\w-])(?:-u|--user|--proxy-user)[ =]{1,2}["']?[^\s:"']{1,128}+:([^\s"']{1,256}+)"""
_COMMAND = r"""(?:sshpass|docker login[^|;&\n]{0,200}?) -p ?["']?([^\s"']{1,256}+)"""
_NETRC = r"login\s{1,3}[^\s]{1,128}+\s{1,3}password\s{1,3}([^\s]{1,256}+)"
_DOCKER = r"""auth\\{0,7}["']\s{0,3}:\s{0,3}\\{0,7}["']([a-z0-9+/]{8,}+={0,2})\\{0,7}["']"""
_SAID = (
    r"(?:password|passcode|passphrase|passwort|api[ _-]?key|secret|token) (?:is|was|=) (?:now )?"
    r"""["'`]?([^\s"'`]{5,256}+)"""
)

# Words that follow `token:` or `Bearer` in a sentence about one.
_PLAIN_WORDS = frozenset(
    [
        *("true", "false", "null", "none", "undefined", "required", "missing", "string", "number", "integer"),
        *("expected", "must", "should", "is", "was", "not", "has", "the", "a", "an", "value", "values"),
        *("auth", "token", "tokens", "authentication", "authorization", "scheme"),
        *("pass", "passed", "fail", "failed", "warn", "skip", "error", "ok", "unknown", "invalid", "wrong", "empty"),
    ]
)


def secret_spans(text: str) -> list[Span]:
    """Where secrets stand in the text, in no order, possibly overlapping."""
    if len(text) < 5:
        return []
    spans = shaped_spans(text)
    # `İ` alone would become two letters.
    lower = text.replace("İ", "i").lower()
    if "bearer" in lower or "basic" in lower or "ssws" in lower:
        spans += [found.span(1) for found in re.finditer(_SCHEME, lower) if _is_credential(text, found)]
    if any(hint in lower for hint in _NAME_HINTS):
        spans += _assigned(text, lower)
    if "cookie" in lower:
        spans += [found.span(1) for found in re.finditer(_COOKIE, lower)]
    if "login" in lower:
        spans += [found.span(1) for found in re.finditer(_NETRC, lower)]
    if "auth" in lower:
        spans += [found.span(1) for found in re.finditer(_DOCKER, lower) if _looks_random(text, found)]
    if "=" in lower:
        spans += [found.span(1) for found in re.finditer(_SIGNED, lower) if _looks_random(text, found)]
    if "-u" in lower or "-p" in lower:
        spans += [found.span(1) for found in re.finditer(_LOGIN, lower) if not found[1].isdecimal()]
        spans += [found.span(1) for found in re.finditer(_COMMAND, lower)]
    return spans


def shaped_spans(text: str) -> list[Span]:
    """Where secrets stand that are known by their shape alone, whatever is said around them."""
    spans = list(token_spans(text))
    if "-----BEGIN " in text:
        spans += [found.span() for found in re.finditer(_PEM, text)]
    if "://" in text and "@" in text:
        spans += [span for found in re.finditer(_ADDRESS, text) if (span := _password(text, found))]
        spans += [found.span(1) for found in re.finditer(_USER_ONLY, text)]
    if "@tcp(" in text or "@unix(" in text:
        spans += [found.span(1) for found in re.finditer(_DSN, text)]
    return spans


def _password(text: str, found: re.Match[str]) -> Span | None:
    """The password of an address, which may hold `/`, `#` and `@`: it ends before a host, else at the last `@`."""
    start, stop = found.span(1)
    host = re.compile(_HOST, re.IGNORECASE).search(text, start, stop)
    end = host.start() if host else text.rfind("@", start, stop)
    return (start, end) if end > start else None


def _assigned(text: str, lower: str) -> Iterator[Span]:
    if "=" in text or ":" in text or "%3" in text:
        for found in re.finditer(_ASSIGNED, lower):
            if _names_secret(text, found) and (span := _value_span(found)):
                yield span
    if "--" in text:
        for found in re.finditer(_OPTION, lower):
            if _before(text, found.start()).startswith("--") and (span := _value_span(found)):
                yield span
    if "</" in text:
        for found in re.finditer(_ELEMENT, lower):
            if is_secret_name(text[found.start(1) : found.end(1)]) and found[2].strip():
                yield found.span(2)
    if " is " in lower or " was " in lower or " = " in lower:
        for found in re.finditer(_SAID, lower):
            if any(character.isdigit() for character in found[1]) and not found[1].isdecimal():
                yield found.start(1), found.start(1) + len(found[1].rstrip(".,;:!?)"))


def _names_secret(text: str, found: re.Match[str]) -> bool:
    """Whether what stands before the sign is the name of a secret; `Api Key` is one too."""
    if " " in found[1]:
        return not text[found.start() - 1 : found.start()].isalnum()
    name = _before(text, found.end(1))
    if name.lower() == "pass" and text[found.end(1) : found.end(1) + 1].strip() not in ("=", '"', "'", "\\"):
        return False  # the word "pass", before a colon
    return is_secret_name(name)


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


def _looks_random(text: str, found: re.Match[str]) -> bool:
    """Whether a value is no word: it has a digit, an escape or a capital inside."""
    value = text[found.start(1) + 1 : found.end(1)]
    return any(character in "0123456789%=+/" or character.isupper() for character in value)
