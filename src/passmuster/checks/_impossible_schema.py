"""Whether any value fits a JSON Schema. Only what is certain is said: a schema that is hard to tell fits something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from passmuster.checks._json_schema import compile_schema
from passmuster.checks._schema_mistakes import SchemaPath, at_path, ref_path

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_LOWS, _HIGHS = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")
_DEEPEST = 20
_MOST_STEPS = 2_000


def impossible_parts(schema: Any) -> Iterator[SchemaPath]:
    """The outermost parts of a schema that no value fits; a part that is `false` says so itself and is not told."""
    yield from _Search(schema).impossible(schema, (), 0)


def fits_nothing(*schemas: Any) -> bool:
    """Whether it is certain that no value fits all of these schemas."""
    return _Search(schemas[0]).none_fits(list(schemas), 0)


class _Search:
    """A search in one schema, which gives up after so many steps."""

    def __init__(self, root: Any) -> None:
        self._root, self._left = root, _MOST_STEPS

    def impossible(self, part: Any, path: SchemaPath, depth: int) -> Iterator[SchemaPath]:
        """The outermost parts that no value fits."""
        if not isinstance(part, dict) or depth > _DEEPEST:
            return
        if self.none_fits([part], 0):
            yield path
            return
        for word in ("properties", "patternProperties", "$defs"):
            inner = part.get(word)
            for name, one in inner.items() if isinstance(inner, dict) else ():
                yield from self.impossible(one, (*path, word, name), depth + 1)
        for word in ("items", "additionalProperties", "contains"):
            yield from self.impossible(part.get(word), (*path, word), depth + 1)
        for word in ("allOf", "anyOf", "oneOf", "prefixItems"):
            inner = part.get(word)
            for place, one in enumerate(inner if isinstance(inner, list) else ()):
                yield from self.impossible(one, (*path, word, place), depth + 1)

    def none_fits(self, schemas: list[Any], depth: int) -> bool:
        """Whether no value fits all of these."""
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            return False
        parts = [part for schema in schemas for part in self._conjuncts(schema, 0)]
        if any(part is False for part in parts):
            return True
        maps = [part for part in parts if isinstance(part, dict)]
        types = _types(maps)
        if not types or self._no_listed_value(maps):
            return True
        if types <= {"number", "integer"} and _empty(maps, _LOWS, _HIGHS):
            return True
        if types == {"string"} and _empty(maps, ("minLength",), ("maxLength",)):
            return True
        if types == {"array"} and (_empty(maps, ("minItems",), ("maxItems",)) or self._needs_an_item(maps, depth)):
            return True
        if types == {"object"} and self._needs_a_property(maps, depth):
            return True
        return self._no_choice(maps, depth)

    def _conjuncts(self, schema: Any, depth: int) -> list[Any]:
        """The schemas that a value has to fit all of: itself, those of `allOf`, and what `$ref` names."""
        found = [schema]
        if isinstance(schema, dict) and depth < _DEEPEST:
            parts = list(schema["allOf"]) if isinstance(schema.get("allOf"), list) else []
            if target := ref_path(schema.get("$ref")):
                parts.append(at_path(self._root, target))
            for part in parts:
                found += self._conjuncts(part, depth + 1)
        return found

    def _no_choice(self, maps: list[dict[str, Any]], depth: int) -> bool:
        """Whether some list of choices has none that anything fits beside the rest."""
        for place, part in enumerate(maps):
            for word in ("anyOf", "oneOf"):
                choices = part.get(word)
                if not isinstance(choices, list) or not choices:
                    continue
                flat = [{key: value for key, value in one.items() if key not in ("allOf", "$ref")} for one in maps]
                del flat[place][word]
                if all(self.none_fits([*flat, choice], depth + 1) for choice in choices):
                    return True
        return False

    def _no_listed_value(self, maps: list[dict[str, Any]]) -> bool:
        """Whether values are listed, and none of them fits the rest."""
        listed = next((part.get("enum", [part.get("const")]) for part in maps if _lists(part)), None)
        if not isinstance(listed, list):
            return False
        shared = {key: value for key, value in _map(self._root).items() if key in ("$defs", "definitions")}
        try:
            fits = compile_schema({"allOf": maps, **shared}).is_valid
            return not any(fits(value) for value in listed)
        except Exception:  # what cannot be compiled alone is told where it is read
            return False

    def _needs_an_item(self, maps: list[dict[str, Any]], depth: int) -> bool:
        needs = any(least >= 1 for least in _numbers(maps, ("minItems",)))
        items = [part["items"] for part in maps if "items" in part and "prefixItems" not in part]
        return needs and bool(items) and self.none_fits(items, depth + 1)

    def _needs_a_property(self, maps: list[dict[str, Any]], depth: int) -> bool:
        required = {name for part in maps for name in part.get("required") or () if isinstance(name, str)}
        for name in sorted(required):
            stated = [_map(part.get("properties"))[name] for part in maps if name in _map(part.get("properties"))]
            if stated and self.none_fits(stated, depth + 1):
                return True
        return False


def _lists(part: dict[str, Any]) -> bool:
    return "const" in part or isinstance(part.get("enum"), list)


def _types(maps: Iterable[dict[str, Any]]) -> frozenset[str]:
    left = _TYPES
    for part in maps:
        stated = part.get("type")
        if stated is None:
            continue
        names = {str(name) for name in (stated if isinstance(stated, list) else [stated])}
        left &= names | ({"integer"} if "number" in names else set())
    return left


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _empty(maps: list[dict[str, Any]], lows: tuple[str, ...], highs: tuple[str, ...]) -> bool:
    """Whether the highest of the lower bounds is above the lowest of the upper ones."""
    low = max(_numbers(maps, lows), default=None)
    high = min(_numbers(maps, highs), default=None)
    if low is None or high is None or low < high:
        return False
    exclusive = any(part.get(word) == low for part in maps for word in (lows[-1], highs[-1]) if "exclusive" in word)
    return bool(low > high or exclusive)


def _numbers(maps: Iterable[dict[str, Any]], words: Iterable[str]) -> list[float]:
    stated = [part.get(word) for part in maps for word in words]
    return [value for value in stated if isinstance(value, int | float) and not isinstance(value, bool)]
