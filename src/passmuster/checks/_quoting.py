"""Values quoted in messages: as JSON, shortened, without what a name says is secret.

Values are shortened between words, never within one: half a token would no longer be recognised as a secret where
reports redact them.
"""

from typing import Any

from passmuster.redaction import is_secret_name

HIDDEN = "(hidden)"
_LIMIT = 120


def is_secret_path(path: str) -> bool:
    """Whether any name in a dotted path is that of a secret."""
    return any(is_secret_name(name) for name in path.replace("[", ".").split("."))


def quoted(value: Any) -> str:
    """The value as JSON, shortened."""
    import json  # late, for only explanations need it

    try:
        return shortened(json.dumps(_without_secrets(value), ensure_ascii=False, default=repr))
    except RecursionError:
        return "(nested too deeply to be shown)"


def _without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: HIDDEN if is_secret_name(str(key)) else _without_secrets(item) for key, item in value.items()}
    return [_without_secrets(item) for item in value] if isinstance(value, list) else value


def shortened(text: str) -> str:
    """The text, cut between words with an ellipsis where it is long."""
    if len(text) <= _LIMIT:
        return text
    head = text[: _LIMIT + 1].rpartition(" ")[0]
    return f"{head}… ({len(text)} characters)"
