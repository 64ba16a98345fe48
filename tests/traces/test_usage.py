"""Tokens of a model call, as the APIs and frameworks count them."""

from __future__ import annotations

import pytest

from passmuster.traces._usage import Usage, usage_of


@pytest.mark.parametrize(
    ("stated", "counted"),
    [
        pytest.param(
            {"prompt_tokens": 110, "completion_tokens": 21, "prompt_tokens_details": {"cached_tokens": 30}},
            Usage(110, 21, 30),
            id="OpenAI counts cached tokens within the input",
        ),
        pytest.param(
            {"input_tokens": 80, "output_tokens": 21, "cache_read_input_tokens": 30},
            Usage(110, 21, 30),
            id="Anthropic counts them beside it",
        ),
        pytest.param(
            {"input_tokens": 110, "output_tokens": 21, "cache_read_tokens": 30},
            Usage(110, 21, 30),
            id="pydantic-ai counts them within",
        ),
        pytest.param(
            {"input_tokens": 80, "output_tokens": 21, "total_tokens": 131, "cache_read_tokens": 30},
            Usage(110, 21, 30),
            id="a total says that they are beside",
        ),
        pytest.param(
            {"input_tokens": 110, "output_tokens": 21, "total_tokens": 131, "cache_read_tokens": 30},
            Usage(110, 21, 30),
            id="a total says that they are within",
        ),
        pytest.param({"prompt_tokens": "110"}, Usage(), id="text is no count"),
    ],
)
def test_cached_tokens_are_counted_once(stated: dict[str, object], counted: Usage) -> None:
    assert usage_of(stated) == counted
