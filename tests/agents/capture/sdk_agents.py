"""Agents that are loops over the SDKs of both vendors, asking a model until it asks for no more tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anthropic
import openai

QUERY = "Where is my parcel?"


def use(tool: str, given: Any) -> str:
    """What a tool returns."""
    if tool == "broken":
        return json.dumps({"error": "no"})
    return json.dumps({"tool": tool, "got": given})


def chat(environment: Mapping[str, str], stream: bool, **more: Any) -> str:
    """OpenAI chat completions."""
    client = openai.OpenAI(api_key="sk-secret-1", base_url=environment["OPENAI_BASE_URL"], **more)
    messages: list[Any] = [{"role": "system", "content": "Help."}, {"role": "user", "content": QUERY}]
    while True:
        said: Any
        if stream:
            with client.chat.completions.stream(model="m-1", messages=messages) as events:
                for _ in events:
                    pass
                said = events.get_final_completion().choices[0].message
        else:
            said = client.chat.completions.create(model="m-1", messages=messages).choices[0].message
        calls = [(one.id, one.function.name, one.function.arguments) for one in said.tool_calls or ()]
        if not calls:
            return str(said.content)
        messages.append(said.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
        for key, tool, given in calls:
            messages.append({"role": "tool", "tool_call_id": key, "content": use(tool, json.loads(given))})


def responses(environment: Mapping[str, str], stream: bool, **more: Any) -> str:
    """OpenAI Responses."""
    client = openai.OpenAI(api_key="sk-secret-1", base_url=environment["OPENAI_BASE_URL"], **more)
    items: list[Any] = [{"role": "user", "content": QUERY}]
    while True:
        if stream:
            with client.responses.stream(model="m-1", input=items, instructions="Help.") as events:
                for _ in events:
                    pass
                said = events.get_final_response()
        else:
            said = client.responses.create(model="m-1", input=items, instructions="Help.")  # type: ignore[assignment]
        calls = [item for item in said.output if item.type == "function_call"]
        if not calls:
            return said.output_text
        for item in said.output:
            items.append(item.model_dump(exclude_none=True, exclude={"parsed_arguments", "status"}))
        for call in calls:
            output = use(call.name, json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})


def messages(environment: Mapping[str, str], stream: bool, **more: Any) -> str:
    """Anthropic messages."""
    client = anthropic.Anthropic(api_key="sk-secret-1", base_url=environment["ANTHROPIC_BASE_URL"], **more)
    said: list[Any] = [{"role": "user", "content": QUERY}]
    while True:
        given: dict[str, Any] = {"model": "m-1", "max_tokens": 100, "system": "Help.", "messages": said}
        if stream:
            with client.messages.stream(**given) as events:
                answer = events.get_final_message()
        else:
            answer = client.messages.create(**given)
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in answer.content if block.type == "text")
        said.append({"role": "assistant", "content": [block.model_dump() for block in answer.content]})
        results = [
            {
                "type": "tool_result",
                "tool_use_id": block.id,
                "content": use(block.name, block.input),
                "is_error": block.name == "broken",
            }
            for block in calls
        ]
        said.append({"role": "user", "content": results})


AGENTS = {"chat": chat, "responses": responses, "messages": messages}
