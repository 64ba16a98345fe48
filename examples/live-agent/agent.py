"""A small agent: asks a model, calls the tools that it wants, and asks again until it answers."""

import json
import os

from openai import OpenAI

MODEL = os.environ.get("PARCELS_MODEL", "parcels-1")
PROMPT = "You answer questions about parcels. Look a parcel up before you say or do anything about it."
PARCELS = {
    17: {"where": "Leeds", "arrives": "Friday", "price": 8.0},
    23: {"where": "delivered", "arrives": "yesterday", "price": 12.5},
}


def get_parcel(number: int) -> dict:
    return PARCELS.get(number) or {"error": f"there is no parcel {number}"}


def refund(number: int, amount: float) -> dict:
    return {"parcel": number, "refunded": amount}


def described(name: str, description: str, **arguments: str) -> dict:
    properties = {argument: {"type": kind} for argument, kind in arguments.items()}
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = {"get_parcel": get_parcel, "refund": refund}
DESCRIBED = [
    described("get_parcel", "Where a parcel is, and what was paid for it.", number="integer"),
    described("refund", "Pay money back to the customer.", number="integer", amount="number"),
]


def answer(conversation):
    """The answer to a question, or to a conversation so far."""
    said = conversation if isinstance(conversation, list) else [{"role": "user", "content": conversation}]
    messages = [{"role": "system", "content": PROMPT}, *said]
    client = OpenAI()
    for _ in range(8):
        reply = client.chat.completions.create(model=MODEL, messages=messages, tools=DESCRIBED).choices[0].message
        if not reply.tool_calls:
            return reply.content
        messages.append(reply.model_dump(exclude_none=True))
        for call in reply.tool_calls:
            result = TOOLS[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
    return "I could not find that out."
