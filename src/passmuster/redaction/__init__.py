"""Redaction: secrets are found in texts and values, and hidden the same way everywhere."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.redaction._known_words import Words, telling
    from passmuster.redaction._redactor import SENTENCE_LIMIT, VALUE_LIMIT, Redactor
    from passmuster.redaction._secret_names import is_secret_name
    from passmuster.redaction._secret_patterns import secret_spans, shaped_spans
else:
    __getattr__ = lazy_exports(__name__)
