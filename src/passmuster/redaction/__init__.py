"""Redaction: secrets are found in texts and values, and hidden the same way everywhere."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.redaction._known_words import Words as Words
    from passmuster.redaction._known_words import telling as telling
    from passmuster.redaction._redactor import SENTENCE_LIMIT as SENTENCE_LIMIT
    from passmuster.redaction._redactor import Redactor as Redactor
    from passmuster.redaction._secret_patterns import is_secret_name as is_secret_name
    from passmuster.redaction._secret_patterns import secret_spans as secret_spans
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "_known_words": ("Words", "telling"),
            "_redactor": ("Redactor", "SENTENCE_LIMIT"),
            "_secret_patterns": ("is_secret_name", "secret_spans"),
        },
    )
