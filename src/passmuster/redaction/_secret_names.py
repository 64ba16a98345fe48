"""Which names hold a secret: `api_key`, `dbPassword`, `secret_value`; not `max_tokens`, `password_length`."""

from __future__ import annotations

import re
from functools import lru_cache

_KEYS = (
    "api|access|account|admin|aes|auth|bot|cipher|client|crypto|decryption|deploy|deployment|encryption|hmac|license|master"
    "|private|recovery|root|secret|server|service|session|shared|signing|ssh|storage|subscription|symmetric|unseal"
    "|vault|webhook|wrapping"
)
# Words behind a name that still mean the secret itself: `password_confirm`, `token_value`, `private_key_pem`.
_TRAILING = frozenset(
    [
        *("value", "val", "confirm", "confirmation", "confirmed", "again", "repeat", "repeated", "retype", "text"),
        *("string", "str", "plain", "plaintext", "raw", "clear", "cleartext", "hash", "hashed", "digest", "encoded"),
        *("encrypted", "base", "b", "hex", "pem", "der", "env", "header", "new", "old", "current", "original", "data"),
        *("content", "contents", "input", "field", "param", "parameter", "arg", "verify", "secret", "material"),
    ]
)
NAME_END = (
    r"pass(?:wor|w)d|passphrase|passcode|pwd|secret|token|cookie|authorization|credentials?"
    r"|passwort|kennwort|contrasena|senha|wachtwoord"
    rf"|(?:{_KEYS})[ _-]?key|passkey|pass|psw|pw|jwt|otp|cvv|cvc|ssn|mnemonic|card[ _-]?number"
)
"""How a name ends that holds a secret, in small letters; words of `_TRAILING` and digits may follow."""
TRAILING = rf"(?:[_-]?(?:{'|'.join(sorted(_TRAILING, key=len, reverse=True))})(?![a-z]))*+[0-9]{{0,3}}+"

# Endings, not patterns: compiling those took 9 million instructions, 2 % of a short run.
_SECRET_ENDS = (
    *("password", "passwd", "passphrase", "passcode", "passkey", "pwd", "secret", "token", "cookie", "authorization"),
    *("credential", "passwort", "kennwort", "motdepasse", "contrasena", "senha", "wachtwoord"),
    *("cardnumber", "creditcard", "ccnumber", "socialsecuritynumber", "basicauth", "proxyauth", "authheader"),
    *("authorizationheader", "secretkeybase", "seedphrase", "recoveryphrase"),
    *(f"{kind}code" for kind in ("backup", "recovery", "verification", "security", "mfa", "otp", "totp")),
    *(f"{kind}key" for kind in _KEYS.split("|")),
)
_SECRET_WORDS = frozenset(
    {"ssn", "otp", "totp", "cvv", "cvc", "csc", "jwt", "pw", "psw", "passwd", "pass", "bearer", "mnemonic", "pin"}
)
# `tokens` is a count more often than not; a token for the next page opens nothing.
_PLAIN_TOKENS = (
    *("page", "next", "continuation", "sync", "pagination", "max", "min", "total", "num", "stop", "eos", "bos", "pad"),
)
_PLAIN_PASSES = (
    *("first", "second", "third", "last", "final", "single", "multi", "one", "two", "boarding", "bus", "train", "ski"),
    *("season", "day", "daily", "weekly", "monthly", "annual", "render", "forward", "backward", "test", "tests", "did"),
    *("will", "by", "gpio", "map", "pushpin"),
)
_PLAIN_ENDS = (
    "tokens",
    *(f"{kind}token" for kind in _PLAIN_TOKENS),
    *(f"{kind}{end}" for kind in _PLAIN_PASSES for end in ("pass", "pin")),
)
_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether an argument of this name holds a secret: `api_key`, `dbPassword`, not `max_tokens`."""
    words = [word.lower() for word in re.findall(_WORD, name)]
    while words and not _ends_in_secret(words):
        if words.pop() not in _TRAILING:
            return False
    return bool(words)


def _ends_in_secret(words: list[str]) -> bool:
    joined = "".join(words)
    if joined.endswith(_PLAIN_ENDS):
        return False
    return joined.removesuffix("s").endswith(_SECRET_ENDS) or words[-1] in _SECRET_WORDS
