"""Secrets never reach a report, equal ones stay equal, and nothing long or hostile slows it down."""

from __future__ import annotations

import json
import math
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster.redaction._known_words import Words
from passmuster.redaction._redactor import VALUE_LIMIT, Redactor
from passmuster.redaction._secret_patterns import is_secret_name

JWT = ".".join(["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJl-_x"])
PEM = "-----BEGIN {0}-----\nMIIEow\nIBAAK\n-----END {0}-----".format("RSA PRIVATE KEY")


# Written in two halves, or scanners of repositories would take these for real ones.
@pytest.mark.parametrize(
    ("prefix", "rest"),
    [
        ("sk-", "abcdefghijklmnopqrstuvwx"),
        ("sk-proj-", "4f9A8d7c6b5a4f3e2d1c"),
        ("sk-ant-", "api03-AbCdEf0123456789-_x"),
        ("sk_live_", "4eC39HqLyjWDarjtT1"),
        ("rk_live_", "4eC39HqLyjWDarjtT1"),
        ("AKIA", "IOSFODNN7EXAMPLE"),
        ("ASIA", "IOSFODNN7EXAMPLE"),
        ("AIza", "SyA1234567890abcdefghijklmnopqrstuv"),
        ("ghp_", "0123456789abcdefghijABCDEFGHIJ012345"),
        ("gho_", "0123456789abcdefghijABCDEFGHIJ012345"),
        ("ghs_", "0123456789abcdefghijABCDEFGHIJ012345"),
        ("github_pat_", "11ABCDEFG0abcdefghij_KLMNOP"),
        ("glpat-", "ABCdef0123456789_-xy"),
        ("xoxb-", "123456789012-abcdefghijkl"),
        ("hf_", "abcdefghijklmnopqrstuvwxyz012345"),
        ("npm_", "abcdefghijklmnopqrstuvwxyz0123456789"),
        ("ya29.", "a0AfH6SMBx-yz_0123456789"),
        ("SG.", "abcdefghijklmnop-_.qrstuvwxyz0123456789"),
        ("pypi-", "AgEIcHlwaS5vcmcCJDAwMDAw"),
        ("", JWT),
        ("", PEM),
        ("", PEM.partition("-----END")[0]),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "found {}", "line\\n{}", "q=%20{}", '"{}"'])
def test_a_known_shape_is_hidden_wherever_it_stands(prefix: str, rest: str, frame: str) -> None:
    secret = prefix + rest
    hidden = Redactor().hide(frame.format(secret))
    assert "[hidden #1]" in hidden
    assert secret not in hidden
    assert secret[-6:] not in hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Bearer abcdef12345", "Authorization: Bearer [hidden #1]"),
        ("use Bearer abcdefgh now", "use Bearer [hidden #1] now"),
        ("Basic dXNlcjpwYXNz", "Basic [hidden #1]"),
        ("password=hunter2", "password=[hidden #1]"),
        ("(DB_PASSWORD = hunter2)", "(DB_PASSWORD = [hidden #1])"),
        ("api_key: abc, next", "api_key: [hidden #1], next"),
        ('{"password": "hun\\"ter 2", "max_tokens": 5}', '{"password": "[hidden #1]", "max_tokens": 5}'),
        ('{\\"password\\": \\"hunter2\\"}', '{\\"password\\": \\"[hidden #1]\\"}'),
        ("error: secret='two words'", "error: secret='[hidden #1]'"),
        ("curl --api-key hunter2 -v", "curl --api-key [hidden #1] -v"),
        ("AWS_SECRET_ACCESS_KEY=wJalr/XUt+nFEMI", "AWS_SECRET_ACCESS_KEY=[hidden #1]"),
        ("https://x/y?access_token=abc&z=1", "https://x/y?access_token=[hidden #1]&z=1"),
        ("postgres://u:p@ss@host/db", "postgres://u:[hidden #1]@host/db"),
        ("İİ PassWord=Hunter2 İ BEARER AbcDefGh", "İİ PassWord=[hidden #1] İ BEARER [hidden #2]"),
        ("redis://:pw@host", "redis://:[hidden #1]@host"),
        (f"password={JWT}, Bearer {JWT}", "password=[hidden #1], Bearer [hidden #1]"),
    ],
)
def test_only_the_secret_part_of_a_text_is_hidden(text: str, hidden: str) -> None:
    assert Redactor().hide(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=512",
        "token_count: 7",
        "next_page_token=abc",
        "token: required",
        "password: must be set",
        "Basic authentication failed",
        "Bearer authentication",
        "task-force-management-committee",
        "the key: value pair",
        "https://example.test:8080/a@b",
        "npm_config_registry_location",
        "-----BEGIN \nnot a block",
        "",
        "sk-",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert Redactor().hide(text) == text


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        *((name, True) for name in ("password", "dbPassword", "api_key", "apikey", "X-Api-Key", "accessToken")),
        *((name, True) for name in ("refresh_token", "client_secret", "Authorization", "private_key", "credentials")),
        *((name, True) for name in ("passwd", "ssn", "user_ssn", "cvv", "card_number", "token", "SECRET", "password2")),
        *((name, False) for name in ("max_tokens", "token_count", "tokens", "page_token", "lessn", "secretary")),
        *((name, False) for name in ("key", "percent", "password_length", "", "[2]", "author")),
    ],
)
def test_names_of_arguments_that_hold_secrets(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


def test_equal_secrets_share_a_number_and_others_do_not() -> None:
    redactor = Redactor()
    assert redactor.hide("password=one token=two password=one") == (
        "password=[hidden #1] token=[hidden #2] password=[hidden #1]"
    )
    assert redactor.argument("login", "password", "two")[0] == "[hidden #2]"


@pytest.mark.parametrize(
    ("argument", "value", "expected"),
    [
        ("password", "hunter2", "[hidden #1]"),
        ("pin.password", 1234, "[hidden #1]"),
        ("authorization", "Bearer abc", "Bearer [hidden #1]"),
        ("password", None, None),
        ("password", "", ""),
        ("has_password", True, True),
        ("max_tokens", 5, 5),
        ("credentials.user", "me", "[hidden #1]"),
        ("login", {"user": "me", "password": "x"}, {"user": "me", "password": "[hidden #1]"}),
        ("login", {"credentials": {"a": ["x", "y"]}}, {"credentials": {"a": ["[hidden #1]", "[hidden #2]"]}}),
        (
            "headers",
            [{"name": "Authorization", "value": "abc"}, {"name": "Accept", "value": "abc"}],
            [{"name": "Authorization", "value": "[hidden #1]"}, {"name": "Accept", "value": "abc"}],
        ),
        ("note", {"sk-abcdefghijklmnopqrstuvwx": 1}, {"[hidden #1]": 1}),
    ],
)
def test_values_under_a_secret_name(argument: str, value: object, expected: object) -> None:
    assert Redactor().argument("tool", argument, value)[0] == expected


@pytest.mark.parametrize(
    ("entry", "tool", "argument", "value", "expected"),
    [
        ("pay.card.number", "pay", "card.number", 4111, "[hidden #1]"),
        ("pay.card.number", "pay", "card", {"number": 4111, "month": 1}, {"number": "[hidden #1]", "month": 1}),
        ("pay.card.number", "pay", None, {"card": {"number": 4111}}, {"card": {"number": "[hidden #1]"}}),
        ("pay.card", "pay", "card.number", 4111, "[hidden #1]"),
        ("pay.card", "pay", "card", {"month": 1, "ok": True}, {"month": "[hidden #1]", "ok": "[hidden #2]"}),
        ("pay.items[*].price", "pay", "items[2].price", 9.5, "[hidden #1]"),
        ("pay.items[*].price", "pay", "items", [{"price": 1}, {"n": 1}], [{"price": "[hidden #1]"}, {"n": 1}]),
        ("pay.items[1].price", "pay", "items[2].price", 9.5, 9.5),
        ("pay.items[1].price", "pay", "items", [{"price": 1}, {"price": 2}], [{"price": 1}, {"price": "[hidden #1]"}]),
        ("pay.items.price", "pay", "items[0].price", 1, "[hidden #1]"),
        ("p*.note", "pay", "note", "x", "[hidden #1]"),
        ("*.note", "bank.pay", "note", "x", "[hidden #1]"),
        ("bank.pay.note", "bank.pay", "note", "x", "[hidden #1]"),
        ("refund.note", "pay", "note", "x", "x"),
        ("pay.note", "pay", "notes", "x", "x"),
    ],
)
def test_arguments_that_the_suite_hides(
    entry: str, tool: str, argument: str | None, value: object, expected: object
) -> None:
    assert Redactor(arguments=[entry]).argument(tool, argument, value)[0] == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["password", "card", "name", "value", "n", "a.token"]), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON)
def test_words_are_those_that_an_argument_hides(value: object) -> None:
    redactor = Redactor(arguments=["pay.card", "pay.n[*].value"])
    assert set(redactor.words("pay", value)) == set(redactor.argument("pay", None, value)[1])


def test_words_are_found_however_many_and_however_deep() -> None:
    value: object = {"password": [f"word-{number}" for number in range(2000)]}
    for _ in range(5000):
        value = [value]
    assert len(Redactor().words(None, value)) == 2000


WORDS = st.lists(st.text(alphabet="ab-", min_size=1, max_size=9), min_size=1, max_size=30)


@settings(deadline=None)
@given(WORDS, st.text(alphabet="ab- ", max_size=60))
def test_many_words_hide_what_each_of_them_would(words: list[str], text: str) -> None:
    padding = [f"never-{number}" for number in range(200)]
    one_by_one = {place for word in words for start, stop in everywhere(word, text) for place in range(start, stop)}
    together = {place for start, stop in Words([*words, *padding]).spans(text) for place in range(start, stop)}
    assert together == one_by_one


def everywhere(word: str, text: str) -> list[tuple[int, int]]:
    """Where a word stands, also over itself; a short one as a whole word only."""
    places = [(at, at + len(word)) for at in range(len(text)) if text.startswith(word, at)]
    return [
        (start, stop)
        for start, stop in places
        if len(word) > 5 or not (text[start - 1 : start].isalnum() or text[stop : stop + 1].isalnum())
    ]


def test_patterns_that_the_suite_adds() -> None:
    redactor = Redactor(patterns=[r"cust_\d+", r"\b\d{16}\b"])
    assert redactor.hide("cust_12 and cust_13, cust_12") == "[hidden #1] and [hidden #2], [hidden #1]"
    assert redactor.value({"card": 4111111111111111, "n": 5}) == {"card": "[hidden #3]", "n": 5}


def test_a_placeholder_is_never_hidden_again() -> None:
    assert Redactor(patterns=[r"\d", "hidden"]).hide("password=x7") == "password=[hidden #1]"


def test_a_pattern_that_runs_out_of_time_hides_the_whole_text() -> None:
    assert Redactor(patterns=[r"(a|aa)+$"]).hide("a" * 40 + "!") == "[hidden #1]"


def test_long_text_is_cut_after_secrets_are_hidden() -> None:
    redactor = Redactor()
    assert redactor.text("x" * 201) == "x" * 200 + "… (201 characters)"
    assert redactor.text("x" * 200) == "x" * 200
    straddling = "x" * (VALUE_LIMIT - 5) + " password=hunter2 " + "y" * 99
    assert "hunter" not in redactor.text(straddling)
    assert redactor.text("x" * (VALUE_LIMIT - 14) + " password=hunter2 " + "y" * 99).startswith(
        "x" * 186 + " password=…"
    )
    assert redactor.ending("a" * 5000 + "END").endswith("aEND")


def test_containers_are_bounded() -> None:
    redactor = Redactor()
    assert redactor.value(list(range(60)))[-1] == "… (10 more)"
    assert redactor.value({f"k{n}": n for n in range(60)})["…"] == "10 more"
    deep: object = "x"
    for _ in range(30):
        deep = [deep]
    assert "items)" in json.dumps(redactor.value(deep), ensure_ascii=False)
    wide = [[[list(range(50)) for _ in range(50)] for _ in range(50)] for _ in range(50)]
    assert len(json.dumps(redactor.value(wide))) < 20_000


def test_keys_made_equal_by_cutting_stay_apart() -> None:
    assert len(Redactor().value({"k" * 300: 1, "k" * 300 + "x": 2, "k" * 300 + "y": 3})) == 3


class Broken:
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
        ((1, 2), [1, 2]),
        ({2, 1}, [1, 2]),
        ({1: "a"}, {"1": "a"}),
        ("\ud800x", "\\ud800x"),
        (10**30, 10**30),
        pytest.param(10**5000, "… (an integer of 16610 bits)", id="huge"),
        pytest.param(Broken(), "<Broken>", id="broken"),
    ],
)
def test_values_become_plain(value: object, expected: object) -> None:
    assert Redactor().value(value) == expected


def test_counts_under_a_secret_name_are_no_secret() -> None:
    assert Redactor().value({"unknown_tools": {"get_secret": 3}}) == {"unknown_tools": {"get_secret": 3}}


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "a ", "eyJ", "eyJaaaaaa.", "%20eyJaaaaa", "-----BEGIN ", "-----BEGIN A", "-----BEGIN A-----", "sk-"),
        *("password", "password=", "password: ", 'password="', "password ", "--", "--key ", "://a:", "://:a@", "@://"),
        *("bearer ", "basic:", "SG.", "SG.aaaaaaaaaaaa.", "glpat-", "hvs.a", "_", "\\n", "key=\\", "xox", '"', "'"),
    ],
)
def test_a_megabyte_of_anything_takes_a_moment(unit: str) -> None:
    text = unit * (1_000_000 // len(unit)) + " key= ://u:p@ -----BEGIN A----- Bearer "
    start = time.process_time()
    Redactor().text(text)
    # It takes a few tenths; a quadratic search would take minutes.
    assert time.process_time() - start < 2


@settings(deadline=None)
@given(st.text(alphabet="abcXYZ019 _-", min_size=1, max_size=30).filter(lambda text: text.strip()))
def test_no_password_survives_in_its_argument(password: str) -> None:
    shown = Redactor().argument("login", "user.password", {"value": password, "list": [password]})[0]
    assert all(re.fullmatch(r"(?i:(?:bearer|basic) )?\[hidden #1\]", text) for text in (shown["value"], *shown["list"]))


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_value_becomes_strict_json(value: object) -> None:
    json.dumps(Redactor().value(value), allow_nan=False).encode()


@settings(deadline=None)
@given(st.text())
def test_hiding_twice_hides_no_more(text: str) -> None:
    redactor = Redactor()
    once = redactor.hide(text)
    assert redactor.hide(once) == once
