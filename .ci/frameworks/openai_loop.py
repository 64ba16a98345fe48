"""A loop over OpenAI's SDK."""

import json

import openai
from exporting import provider
from openinference.instrumentation.openai import OpenAIInstrumentor
from tools import QUERY, get_order, refund

OpenAIInstrumentor().instrument(tracer_provider=provider())

TOOLS = {"get_order": get_order, "refund": refund}


def parameters(**types: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in types.items()},
        "required": list(types),
    }


SCHEMAS = {
    "get_order": parameters(order_id="string"),
    "refund": parameters(order_id="string", amount="number"),
}
client = openai.OpenAI()
messages: list = [{"role": "user", "content": QUERY}]
while True:
    tools = [{"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in SCHEMAS.items()]
    said = client.chat.completions.create(model="m-1", messages=messages, tools=tools).choices[0].message
    if not said.tool_calls:
        print(said.content)
        break
    messages.append(said.model_dump(exclude_none=True))
    for call in said.tool_calls:
        try:
            result = TOOLS[call.function.name](**json.loads(call.function.arguments))
        except ValueError as error:
            result = f"Error: {error}"
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
