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
from passmuster.redaction._secret_names import is_secret_name

JWT = ".".join(["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJl-_x"])
PEM = "-----BEGIN {0}-----\nMIIEow\nIBAAK\n-----END {0}-----".format("RSA PRIVATE KEY")


# Written in two halves, or scanners of repositories would take these for real ones.
@pytest.mark.parametrize(
    ("prefix", "rest"),
    [
        ("sk-", "abcdefghijklmnopqrstuvwx"),
        ("EAAyWcAkwL", "RDPEFA0ou0wEW8R9Bh4Ub8IV2S4bmQZUIC7ivuQ5PAfvryeheReeR2Gjem58"),
        ("768567cd-5ec6-2d1c-c26f-9d88af243a34:", "302d0938808ae8f3499e904f3b5c9a1d"),
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
        ("dapi", "0123456789abcdef0123456789abcdef"),
        ("123456789:AA", "abcdefghijklmnopqrstuvwxyz012345678"),
        ("MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.", "abcdefghijklmnopqrstuvwxyz0123456789AB"),
        ("ATATT3xFfGF0", "abcdefghijklmnopqrstuvwxyz0123456789"),
        ("ATBB", "abcdefgh01234567ijklmnopqrstuv"),
        ("r8_", "abcdefghijklmnopqrstuvwxyz0123456789AB"),
        ("pplx-", "abcdefghijklmnopqrstuvwxyz0123456789abcdef"),
        ("glsa_", "abcdefghijklmnopqrstuvwxyzABCDEF_01234567"),
        ("glc_", "eyJvIjoiMTIzIiwibiI6InRlc3QiLCJrIjoiYWJj"),
        ("lin_api_", "abcdefghijklmnopqrstuvwxyz0123456789ABCD"),
        ("figd_", "abcdefghijklmnopqrstuvwxyz0123456789ABCD"),
        ("PMAK-", "0123456789abcdef01234567-0123456789abcdef0123456789abcdef01"),
        ("sk_", "0123456789abcdef0123456789abcdef0123456789abcdef"),
        ("tvly-", "dev-abcdefghij0123456789"),
        ("pcsk_", "abcde_ABCDEFGHIJ0123456789klmno"),
        ("jina_", "0123456789abcdefABCDEFghijkl"),
        ("apify_api_", "abcdefghijABCDEFGHIJ0123456789"),
        ("fw_", "3ZabcdefghijABCDEFGHIJ01"),
        ("tgp_v1_", "abcdefghijABCDEFGHIJ-0123456789"),
        ("csk-", "abc4defghijABCDEFGHIJ0123456789"),
        ("ntn_", "123456789abcdefABCDEFghijklmnop"),
        ("secret_", "abc4defghijABCDEFGHIJ0123456789klmnopqrstuvwx"),
        ("pat-na1-", "01234567-89ab-cdef-0123-456789abcdef"),
        ("patAbCdEfGhIjKlMn.", "0123456789abcdef0123456789abcdef0123456789abcdef"),
        ("xkeysib-", "0123456789abcdef0123456789abcdef-AbCdEfGh"),
        ("key-", "0123456789abcdef0123456789abcdef"),
        ("0123456789abcdef0123456789abcdef", "-us12"),
        ("re_", "AbC4efGh_0123456789abcdefABCDEF"),
        ("sq0atp-", "AbCdEfGhIjKlMnOpQr01"),
        ("shpss_", "0123456789abcdef0123456789abcdef"),
        ("sntrys_", "eyJpYXQiOjE2OTAwMDAwMDB9_0123456789"),
        ("sbp_", "0123456789abcdef0123456789abcdef01234567"),
        ("dp.st.", "prd0123456789abcdefABCDEF0123456789"),
        ("hvb.", "AAAAAQJabcdefghij0123456789"),
        ("tskey-", "auth-kAbCdEf-0123456789abcdef"),
        ("rubygems_", "0123456789abcdef0123456789abcdef0123456789abcdef"),
        ("glft-", "ABCdef0123456789_-xy"),
        ("NRAK-", "0123456789ABCDEFGHIJKLMNOPQ"),
        ("pscale_tkn_", "abcdefghijABCDEFGHIJ-0123456789"),
        ("AbCdEfGhIjKlMn.atlasv1.", "abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ"),
        ("aB1", "8Q~abcdefghijABCDEFGHIJ0123456789abc"),
        ("LTAI", "5tAbCdEfGhIjKlMnOpQr"),
        ("IQoJb3JpZ2lu", "X2VjEJr0123456789abcdefghijklmnopqrstuvwxyzABCDEF"),
        ("1//0", "gabcdefghijABCDEFGHIJ-0123456789_abcdef"),
        ("ops_eyJ", "zaWduSW5BZGRyZXNzIjoiMDEyMzQ1Njc4OSJ9"),
        ("discord.com/api/webhooks/", "123456789012345678/AbCdEfGhIjKlMnOpQrSt-0123456789"),
        ("lsv2_pt_", "0123456789abcdef0123456789abcdef_0123456789"),
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
        ("password%3Dhunter2", "password%3D[hidden #1]"),
        (r"{\"password\": \"hunter2\"}", r"{\"password\": \"[hidden #1]\"}"),
        (r"{\\\"password\\\": \\\"hunter2\\\"}", r"{\\\"password\\\": \\\"[hidden #1]\\\"}"),
        ("os.environ['API_KEY'] = 'hunter2x'", "os.environ['API_KEY'] = '[hidden #1]'"),
        ("machine x login bob password hunter2", "machine x login bob password [hidden #1]"),
        ('{"auths":{"x":{"auth":"dTpGRXFlcmZONA=="}}}', '{"auths":{"x":{"auth":"[hidden #1]"}}}'),
        ("Authorization: SSWS 00WBUkFpZvdkR8HJ", "Authorization: SSWS [hidden #1]"),
        ("client-key-data: LS0tLS1CRUdJTg", "client-key-data: [hidden #1]"),
        ("(DB_PASSWORD = hunter2)", "(DB_PASSWORD = [hidden #1])"),
        ("api_key: abc, next", "api_key: [hidden #1], next"),
        ('{"password": "hun\\"ter 2", "max_tokens": 5}', '{"password": "[hidden #1]", "max_tokens": 5}'),
        ("error: secret='two words'", "error: secret='[hidden #1]'"),
        ("curl --api-key hunter2 -v", "curl --api-key [hidden #1] -v"),
        ("AWS_SECRET_ACCESS_KEY=wJalr/XUt+nFEMI", "AWS_SECRET_ACCESS_KEY=[hidden #1]"),
        ("https://x/y?access_token=abc&z=1", "https://x/y?access_token=[hidden #1]&z=1"),
        ("postgres://u:p@ss@host/db", "postgres://u:[hidden #1]@host/db"),
        ("İİ PassWord=Hunter2 İ BEARER AbcDefGh", "İİ PassWord=[hidden #1] İ BEARER [hidden #2]"),
        ("redis://:pw@host", "redis://:[hidden #1]@host"),
        ("postgres://admin:pa/ss#w0rd@db.example.com/x", "postgres://admin:[hidden #1]@db.example.com/x"),
        ("mysql://u:p?q#r@localhost:3306/db", "mysql://u:[hidden #1]@localhost:3306/db"),
        ("amqp://u:a@b/c@[::1]:5672/", "amqp://u:[hidden #1]@[::1]:5672/"),
        ("https://u:pw@host.example/path?mail=a@b.example", "https://u:[hidden #1]@host.example/path?mail=a@b.example"),
        (
            "smtp://me@mail.example:s3c/ret@smtp.example.com:587",
            "smtp://me@mail.example:[hidden #1]@smtp.example.com:587",
        ),
        ("https://0123456789abcdefghijklm@host/x", "https://[hidden #1]@host/x"),
        ("root:s3cret@tcp(127.0.0.1:3306)/db", "root:[hidden #1]@tcp(127.0.0.1:3306)/db"),
        ("sv=2020&sig=Zm9vYmFyQUJD%3D%3D&x=1", "sv=2020&sig=[hidden #1]&x=1"),
        ("?X-Amz-Signature=0123456789abcdef&a=1", "?X-Amz-Signature=[hidden #1]&a=1"),
        (
            "?X-Goog-Credential=svc%40project&X-Goog-Signature=ab12cd34ef",
            "?X-Goog-Credential=[hidden #1]&X-Goog-Signature=[hidden #2]",
        ),
        ("Cookie: lang=en; session=abc", "Cookie: [hidden #1]"),
        ('{"set-cookie": "sid=abc; Path=/"}', '{"set-cookie": "[hidden #1]"}'),
        ("<password>hunter two</password>", "<password>[hidden #1]</password>"),
        ('<db:apiKey type="x">abc</db:apiKey>', '<db:apiKey type="x">[hidden #1]</db:apiKey>'),
        ("curl -u admin:hunter2 https://x", "curl -u admin:[hidden #1] https://x"),
        ("sshpass -p hunter2 ssh host", "sshpass -p [hidden #1] ssh host"),
        ("your password is hunter2.", "your password is [hidden #1]."),
        ("DB_PASS=hunter2", "DB_PASS=[hidden #1]"),
        ("password_confirm: hunter2", "password_confirm: [hidden #1]"),
        ("passwordConfirmation=hunter2", "passwordConfirmation=[hidden #1]"),
        ("secret_value: hunter2", "secret_value: [hidden #1]"),
        ("master_key = hunter2", "master_key = [hidden #1]"),
        ("Api Key: hunter2", "Api Key: [hidden #1]"),
        ("--master-key hunter2", "--master-key [hidden #1]"),
        ("Authorization: ApiKey hunter2", "Authorization: ApiKey [hidden #1]"),
        ("Server=x;Uid=u;Pwd=hunter2;", "Server=x;Uid=u;Pwd=[hidden #1];"),
        (f"password={JWT}, Bearer {JWT}", "password=[hidden #1], Bearer [hidden #1]"),
    ],
)
def test_only_the_secret_part_of_a_text_is_hidden(text: str, hidden: str) -> None:
    assert Redactor().hide(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=512",
        "login with your password before noon",
        'set "auth": "required" and "auth": "oauth2"',
        "EAAST COAST",
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
        "http://localhost:8080/users?mail=a@b.example",
        "docker run -u 1000:1000 image",
        "secret_santa_list_of_names_for_the_party",
        "the password is required",
        "the token is invalid",
        "first_pass: 3 of 5, second pass: done",
        "status: pass: 3 fail: 1",
        "signature: def f(x)",
        "function signature=foo",
        "cookie: required",
        "pattern_matching_is_a_long_word",
        "patient-record-keeping-department",
        "the fw_version_of_the_device_is_old",
        "key-value-store-of-the-application",
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
        *(
            (name, True)
            for name in ("pass", "db_pass", "SMTP_PASS", "userPass", "password_confirm", "master_key", "pw")
        ),
        *((name, True) for name in ("passwordConfirmation", "secret_value", "token_value", "newPassword", "pin")),
        *((name, True) for name in ("password_hash", "private_key_pem", "secret_key_base", "storageKey", "otp_code")),
        *(
            (name, True)
            for name in ("recovery_codes", "session_key", "kennwort", "jwt", "card_number", "api_key_value")
        ),
        *((name, False) for name in ("first_pass", "bypass", "compass", "passenger", "boarding_pass", "spin", "value")),
        *((name, False) for name in ("primary_key", "public_key", "sort_key", "cache_key", "confirm", "token_type")),
        *((name, False) for name in ("password_policy", "secret_name", "next_token_value", "hash", "new", "data")),
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
        (
            "headers",
            [["Authorization", "abc"], ["Accept", "abc"]],
            [["Authorization", "[hidden #1]"], ["Accept", "abc"]],
        ),
        ("env", [{"variable": "DB_PASS", "val": "x"}], [{"variable": "DB_PASS", "val": "[hidden #1]"}]),
        ("login", {"pass": "x", "pass_count": 3}, {"pass": "[hidden #1]", "pass_count": 3}),
        ("login", {"pass": True}, {"pass": True}),
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
        *("://a:b/", "@a.", "cookie: a=b", "<a>", "<password>", "-u a:", "sig=", "password is ", "0:AA", "M.", "pass_"),
        *("docker login ", "api key ", "A", "0", "1//0", "a=", "a:", "password_value_"),
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


def test_a_pattern_that_backtracks_is_given_up() -> None:
    redactor = Redactor(patterns=[r"(b|bb)+$", r"ord_\d+"])
    texts = [f"{'b' * 40}! {number}" for number in range(400)]
    started = time.perf_counter()
    assert all(redactor.hide(text).startswith("[hidden #") for text in texts)
    assert time.perf_counter() - started < 10
    assert redactor.given_up == [r"(b|bb)+$"]
    assert Redactor(patterns=[r"(b|bb)+$"]).hide("harmless") == "[hidden #1]", "it is not tried again in this process"


def test_a_pattern_that_is_merely_slow_is_given_up_too() -> None:
    redactor = Redactor(patterns=[r"(?:[a-z]*x){3}[0-9]"])
    text = "x" * 1_000  # long enough for a search to be slow on any machine, short enough to end in time
    started = time.perf_counter()
    for number in range(20_000):
        redactor.hide(f"{text}{number:05}"[:-5] + "!")
        if redactor.given_up:
            break
    assert time.perf_counter() - started < 20
