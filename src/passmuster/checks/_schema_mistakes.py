"""What is wrong with a JSON Schema that a validator accepts: words that check nothing, and demands that nothing meets.

JSON Schema takes an unknown word for a remark, an unknown format for any text and a `$schema` for another language.
Each of these would let a policy pass what its author meant to forbid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from passmuster._problems import did_you_mean
from passmuster.checks._json_values import TYPES, is_number
from passmuster.checks._schema_patterns import engine_pattern, why_no_pattern
from passmuster.checks._schema_words import (
    FAMILIES,
    FORMATS,
    KNOWN,
    OF_MANY,
    OF_NAMED,
    OF_ONE,
    type_meant,
    why_no_keyword,
)

if TYPE_CHECKING:
    from fractions import Fraction

SchemaPath = tuple[str | int, ...]
_DIALECTS = ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft/2020-12/schema")
_PAIRS = (("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties"))
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_NEEDS = {
    "then": "if",
    "else": "if",
    "minContains": "contains",
    "maxContains": "contains",
}
_SIMPLE = ("type", *(word for word, family in FAMILIES.items() if family in ("number", "string")))
"""Keywords that a listed value can be held against without a look at the rest of the schema."""


class SchemaMistake(Struct, frozen=True):
    """Something wrong with a schema; `path` leads to it."""

    path: SchemaPath
    message: str


Spelling = Callable[[SchemaPath], str]
"""The word that stands at a path: a policy may have `max` for `maximum`."""


def schema_mistakes(schema: Any, spelling: Spelling = lambda path: str(path[-1])) -> Iterator[SchemaMistake]:
    """Everything wrong with a schema, from top to bottom."""
    containers = _containers(schema)
    for path, part in subschemas(schema):
        for word, value in part.items():
            if word not in KNOWN and (*path, word) not in containers and (why := why_no_keyword(str(word), value)):
                yield SchemaMistake((*path, word), why)
        for find in (_dialect, _types, _formats, _patterns, _idle, _numbers, _sizes, _listed, _closed):
            for word, message in find(part, lambda word, path=path: spelling((*path, word))):  # type: ignore[misc]
                yield SchemaMistake((*path, word), message)
        if _refers_to_itself(schema, part):
            yield SchemaMistake((*path, "$ref"), "'$ref' leads back to itself, so it can never fail")


def subschemas(root: Any) -> Iterator[tuple[SchemaPath, dict[str, Any]]]:
    """Every schema that is a map, with its path: those in keywords that hold schemas, and those that `$ref` names."""
    seen: set[int] = set()
    left: list[tuple[SchemaPath, Any]] = [((), root)]
    while left:
        path, part = left.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        yield path, part
        inner: list[tuple[SchemaPath, Any]] = []
        for word, value in part.items():
            if word in OF_ONE:
                inner.append(((*path, word), value))
            elif word in OF_NAMED and isinstance(value, dict):
                inner += [((*path, word, name), one) for name, one in value.items()]
            elif word in OF_MANY and isinstance(value, list):
                inner += [((*path, word, place), one) for place, one in enumerate(value)]
            elif word == "$ref" and (steps := ref_path(value)):
                inner.append((steps, at_path(root, steps)))
        left += reversed(inner)


def ref_path(ref: Any) -> SchemaPath:
    """The path that a `$ref` within the schema names; empty for any other."""
    if not isinstance(ref, str) or not ref.startswith("#/"):
        return ()
    return tuple(_unescaped(step) for step in ref[2:].split("/"))


def _unescaped(step: str) -> str:
    if "%" in step:
        code = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), step.encode())
        step = code.decode("utf-8", "replace")
    return step.replace("~1", "/").replace("~0", "~")


def at_path(root: Any, path: SchemaPath) -> Any:
    for step in path:
        if isinstance(root, list) and str(step).isdecimal() and int(step) < len(root):
            root = root[int(step)]
        else:
            root = root.get(step) if isinstance(root, dict) else None
    return root


def _containers(root: Any) -> set[SchemaPath]:
    """The places that some `$ref` goes through, so that they hold schemas whatever they are called."""
    found: set[SchemaPath] = set()
    for _, part in subschemas(root):
        steps = ref_path(part.get("$ref"))
        found |= {steps[:length] for length in range(1, len(steps) + 1)}
    return found


def _refers_to_itself(root: Any, part: dict[str, Any]) -> bool:
    """Whether `$ref` alone leads round to where it started."""
    seen: set[int] = set()
    current: Any = part
    while isinstance(current, dict) and current.get("$ref") is not None:
        if id(current) in seen:
            return True
        seen.add(id(current))
        current = root if current["$ref"] == "#" else at_path(root, ref_path(current["$ref"]) or ("",))
    return False


Spelled = Callable[[str], str]
Found = Iterator[tuple[str, str]]
"""A keyword and what is wrong with it."""


def _dialect(part: dict[str, Any], spelled: Spelled) -> Found:
    stated = part.get("$schema")
    if stated is not None and str(stated).rstrip("#") not in _DIALECTS:
        yield (
            "$schema",
            f"'{stated}' is another dialect; only JSON Schema 2020-12 is read, in which some words mean something "
            f"else. Check the schema against 2020-12, then remove '$schema' or write '{_DIALECTS[0]}'",
        )


def _types(part: dict[str, Any], spelled: Spelled) -> Found:
    stated = part.get("type")
    for name in stated if isinstance(stated, list) else [stated]:
        if stated is not None and (not isinstance(name, str) or name not in TYPES):
            yield "type", f"'{name}' is not a JSON type{type_meant(name)}"


def _formats(part: dict[str, Any], spelled: Spelled) -> Found:
    name = part.get("format")
    if name is not None and name not in FORMATS:
        hint = did_you_mean(str(name), FORMATS) or f"; known: {', '.join(FORMATS)}"
        yield "format", f"unknown format '{name}', so no value would be checked{hint}"


def _patterns(part: dict[str, Any], spelled: Spelled) -> Found:
    named = part.get("patternProperties")
    keys = [("patternProperties", key) for key in named] if isinstance(named, dict) else []
    for word, pattern in (("pattern", part.get("pattern")), *keys):
        if isinstance(pattern, str) and (why := why_no_pattern(pattern)):
            yield word, why


def _idle(part: dict[str, Any], spelled: Spelled) -> Found:
    """Keywords that the stated type, or a missing neighbour, keeps from ever failing."""
    stated = part.get("type")
    names = [name for name in (stated if isinstance(stated, list) else [stated]) if isinstance(name, str)]
    families = {"number" if name == "integer" else name for name in names}
    for word, family in FAMILIES.items() if families and families <= TYPES.keys() else ():
        if word in part and family not in families:
            yield word, f"'{spelled(word)}' means nothing for type {' or '.join(names)} and could never fail"
    for word, needed in _NEEDS.items():
        if word in part and needed not in part:
            yield word, f"'{word}' means nothing without '{needed}'"
    if "if" in part and not ("then" in part or "else" in part):
        yield "if", "'if' means nothing without 'then' or 'else'"
    if part.get("not") in (True, {}) and "not" in part:
        yield "not", "'not' of a schema that allows everything: a value can never fit"


def _exclude(part: dict[str, Any], low: str, high: str, spelled: Spelled) -> tuple[str, str]:
    stated = f"'{spelled(low)}: {part[low]}' and '{spelled(high)}: {part[high]}'"
    return high, f"{stated} exclude each other, so a value can never fit"


def _numbers(part: dict[str, Any], spelled: Spelled) -> Found:
    """Bounds of a number between which there is none."""
    stated = {word: part[word] for word in _BOUNDS if is_number(part.get(word))}
    endless = [word for word, value in stated.items() if isinstance(value, float) and not isfinite(value)]
    if endless:
        yield endless[0], f"'{spelled(endless[0])}' has to be a number that a double can hold"
    lows = [word for word in ("minimum", "exclusiveMinimum") if word in stated]
    highs = [word for word in ("maximum", "exclusiveMaximum") if word in stated]
    for low in lows if not endless else ():
        for high in highs:
            if why := _gap(part, low, high, spelled):
                yield high, why
                return


def _gap(part: dict[str, Any], low: str, high: str, spelled: Spelled) -> str | None:
    """Why no number is between two bounds."""
    least, most = Decimal(str(part[low])), Decimal(str(part[high]))
    if least > most or (least == most and "exclusive" in low + high):
        return _exclude(part, low, high, spelled)[1]
    factor = part.get("multipleOf")
    whole = part.get("type") == "integer"
    multiple = factor if isinstance(factor, int | float) and is_number(factor) and factor > 0 else None
    if multiple is not None:
        from fractions import Fraction  # late, for few schemas ask for multiples

        step = Fraction(str(multiple))
        first, last = _whole_between(Fraction(least) / step, Fraction(most) / step, low, high)
    elif whole:
        first, last = _whole_between(least, most, low, high)
    else:
        return None
    what = f"multiple of {multiple}" if multiple is not None else "integer"
    return (
        f"there is no {what} between {part[low]} and {part[high]}, so a value can never fit" if first > last else None
    )


def _whole_between(least: Decimal | Fraction, most: Decimal | Fraction, low: str, high: str) -> tuple[int, int]:
    """The first and the last whole number between two bounds."""
    first = floor(least) + 1 if "exclusive" in low else ceil(least)
    last = ceil(most) - 1 if "exclusive" in high else floor(most)
    return first, last


def _sizes(part: dict[str, Any], spelled: Spelled) -> Found:
    for low, high in (*_PAIRS, ("minContains", "maxContains")):
        if is_number(part.get(low)) and is_number(part.get(high)) and part[low] > part[high]:
            yield _exclude(part, low, high, spelled)


def _listed(part: dict[str, Any], spelled: Spelled) -> Found:
    """Values that are listed, and of which none fits what stands beside them."""
    options = part.get("enum")
    if options == []:
        yield "enum", "an empty list allows no value"
    stated = {word: part[word] for word in _SIMPLE if word in part}
    for word, values in (("enum", options), ("const", [part["const"]] if "const" in part else None)):
        if not isinstance(values, list) or not values:
            continue
        if word == "enum" and "const" in part and part["const"] not in values:
            yield "const", "'const' is none of the values in 'enum', so a value can never fit"
        if stated and not _any_fits(stated, values):
            beside = ", ".join(f"'{spelled(one)}'" for one in stated)
            yield word, f"no value of '{word}' fits {beside} beside it, so a value can never fit"


def _any_fits(stated: dict[str, Any], values: list[Any]) -> bool:
    """Whether one of the values fits; where the keywords are wrong themselves, that is told elsewhere."""
    from jsonschema_rs import Draft202012Validator, ValidationError

    pattern = stated.get("pattern")
    if isinstance(pattern, str):
        if why_no_pattern(pattern):
            return True
        stated = {**stated, "pattern": engine_pattern(pattern)}
    try:
        fits = Draft202012Validator(stated, validate_formats=True, offline=True).is_valid
        return any(fits(value) for value in values)
    except (ValidationError, ValueError):
        return True


def _closed(part: dict[str, Any], spelled: Spelled) -> Found:
    """Properties that are required and cannot be given."""
    required, known = part.get("required"), part.get("properties", {})
    if not isinstance(required, list) or not isinstance(known, dict):
        return
    closed = part.get("additionalProperties") is False and not part.get("patternProperties")
    for name in filter(lambda name: isinstance(name, str), required):  # what else it lists is told elsewhere
        if (closed and name not in known) or known.get(name) is False:
            hint = did_you_mean(str(name), known)
            yield "required", f"'{name}' is required and not allowed, so a value can never fit{hint}"
