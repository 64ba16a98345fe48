"""The ten calls that this program and its peers are timed on. Imports nothing but what Python has."""

from __future__ import annotations

from typing import Any

__all__ = ["ARGUMENTS", "ARGUMENTS_SCHEMA", "CALLS"]

ARGUMENTS: dict[str, Any] = {
    "id": {"type": "string", "required": True, "pattern": "^cust_[0-9]{8}$"},
    "amount": {"type": "number", "min": 0, "max": 500},
    "count": {"type": "integer", "min": 1, "max": 100},
    "kind": {"type": "string", "enum": ["standard", "express", "gift"]},
    "note": {"type": "string", "maxLength": 2000},
}
ARGUMENTS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string", "pattern": "^cust_[0-9]{8}$"},
        "amount": {"type": "number", "minimum": 0, "maximum": 500},
        "count": {"type": "integer", "minimum": 1, "maximum": 100},
        "kind": {"type": "string", "enum": ["standard", "express", "gift"]},
        "note": {"type": "string", "maxLength": 2000},
    },
}
CALLS: list[dict[str, Any]] = [
    {
        "tool": f"{verb}_{noun}",
        "arguments": {
            "id": f"cust_{number:08d}",
            "amount": 12.5 * number,
            "count": number + 1,
            "kind": "express",
            "note": "the parcel was opened on delivery and the item inside did not match the invoice",
        },
    }
    for number, (verb, noun) in enumerate(
        (verb, noun) for verb in ("get", "list", "update", "create", "notify") for noun in ("customer", "order")
    )
]
