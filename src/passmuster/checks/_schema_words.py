"""The words of JSON Schema 2020-12, and what a word that is none of them was meant to be."""

from __future__ import annotations

from typing import Any

from passmuster.checks._json_values import TYPES

FORMATS = (
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
)
"""The formats that are asserted; JSON Schema accepts any value for a format it does not know."""

OF_ONE = (
    *("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
"""Keywords that hold a schema."""
OF_MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
"""Keywords that hold a list of schemas."""
OF_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies")
"""Keywords that hold schemas by name."""

FAMILIES = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), "string"),
    **dict.fromkeys(("items", "prefixItems", "contains", "minContains", "maxContains"), "array"),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems", "unevaluatedItems"), "array"),
    **dict.fromkeys(("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"), "object"),
    **dict.fromkeys(("required", "minProperties", "maxProperties", "propertyNames"), "object"),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "dependencies"), "object"),
}
"""Keywords that only values of one type can break."""
_ASSERTING = (*FAMILIES, "type", "enum", "const", *OF_ONE, *OF_MANY, *OF_NAMED)
_CORE = ("$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$defs", "$comment", "$vocabulary")
_REMARKS = (
    *("title", "description", "example", "examples", "default", "deprecated", "readOnly", "writeOnly", "id"),
    *("contentEncoding", "contentMediaType", "contentSchema", "nullable"),
)
KNOWN = frozenset((*_ASSERTING, *_CORE, *_REMARKS))
_OLDER = {
    "additionalItems": "'items' beside 'prefixItems'",
    "divisibleBy": "'multipleOf'",
    "disallow": "'not'",
    "extends": "'allOf'",
    "$recursiveRef": "'$dynamicRef'",
    "$recursiveAnchor": "'$dynamicAnchor'",
}
"""Words of older drafts that 2020-12 ignores, and what replaces them."""
_MEANT = {
    "min": "minimum",
    "max": "maximum",
    "ge": "minimum",
    "gte": "minimum",
    "le": "maximum",
    "lte": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "regex": "pattern",
    "regexp": "pattern",
    "minlen": "minLength",
    "maxlen": "maxLength",
    "choices": "enum",
    "allowedvalues": "enum",
    "ref": "$ref",
}
"""Words of other languages for what JSON Schema calls otherwise."""
_TYPES_MEANT = {
    **dict.fromkeys(("float", "double", "decimal", "numeric", "num"), "number"),
    **dict.fromkeys(("int", "long", "int32", "int64", "uint"), "integer"),
    **dict.fromkeys(("str", "text", "char", "date", "datetime", "uuid", "email", "url"), "string"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("list", "tuple", "set"), "array"),
    **dict.fromkeys(("dict", "map", "mapping", "struct", "record", "json"), "object"),
    **dict.fromkeys(("none", "nil", "undefined"), "null"),
}


def type_meant(name: object) -> str:
    """A hint which JSON type somebody means by a word that is none, to follow a message."""
    word = str(name).strip().lower()
    meant = word if word in TYPES else _TYPES_MEANT.get(word)
    if meant:
        return f"; did you mean '{meant}'?"
    from passmuster._problems import did_you_mean

    return did_you_mean(word, TYPES) or f"; one of {', '.join(TYPES)}"


def why_no_keyword(word: str, value: Any) -> str | None:
    """Why a word that is none of JSON Schema can hardly be meant as a remark; None where it can."""
    if word.startswith("x-"):
        return None
    if word in _OLDER:
        return f"'{word}' is a word of an older draft, which 2020-12 ignores; write {_OLDER[word]}"
    meant = _meant(word)
    if meant:
        return f"'{word}' is not a keyword of JSON Schema, so nothing would be checked; did you mean '{meant}'?"
    if looks_like_schema(value):
        return (
            f"'{word}' is not a keyword of JSON Schema, so nothing would be checked; an argument belongs under "
            "'properties'"
        )
    return None


def looks_like_schema(value: Any) -> bool:
    """Whether a value was written as a schema."""
    if not isinstance(value, dict):
        return False
    types = value.get("type")
    stated = types if isinstance(types, list) else [types]
    return (
        any(isinstance(name, str) and name in TYPES for name in stated)
        or isinstance(value.get("properties"), dict)
        or isinstance(value.get("enum"), list)
        or (isinstance(value.get("$ref"), str) and len(value) == 1)
    )


def _folded(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def _meant(word: str) -> str | None:
    """The keyword that a word is so near to that it can hardly be anything else."""
    folded = _folded(word)
    by_folded = {_folded(keyword): keyword for keyword in (*_ASSERTING, *_CORE)}
    if folded in by_folded or folded in _MEANT:
        return by_folded.get(folded) or _MEANT[folded]
    from rapidfuzz.distance import OSA  # late, for most schemas have no unknown word

    slips = 2 if len(folded) >= 7 else 1
    near = [
        (distance, keyword)
        for known, keyword in by_folded.items()
        if len(known) >= 4
        and len(folded) >= 3
        and (len(folded) > 5 or known[0] == folded[0])
        and (distance := OSA.distance(known, folded, score_cutoff=slips)) <= slips
    ]
    return min(near)[1] if near else None
