"""Patterns of JSON Schema mean what ECMA-262 says, with the flag `u`; expectations are those of Node.js 18."""

from __future__ import annotations

import pytest
from tests.checks.building import call, judge_one, trace

from passmuster.checks._ecma_pattern import PatternError, translated
from passmuster.checks._json_schema import compile_schema


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^a.c$", "a\u2028c", False),
        ("^a.c$", "a\rc", False),
        ("^a.c$", "a\x85c", True),
        ("^.$", "😀", True),
        (r"\bb", "éb", True),
        (r"\Bb", "éb", False),
        (r"^\w$", "é", False),
        (r"^\d$", "٣", False),
        (r"^\D$", "٣", True),
        (r"^\s$", "\ufeff", True),
        (r"^\s$", "\x85", False),
        (r"^\S$", "\x85", True),
        ("^a$", "a\n", False),
        ("[a&&b]", "&", True),
        ("^[[]$", "[", True),
        ("^[[:alpha:]]$", "l]", True),
        ("^[^]$", "\n", True),
        (r"^[\w.-]+$", "a-b.c", True),
        (r"^[\w-.]+$", "a-b.c", True),
        (r"^[^\W_]$", "_", False),
        (r"^[\b]$", "\b", True),
        (r"^[a\-z]$", "b", False),
        (r"^(?<n>a)\k<n>$", "aa", True),
        (r"^(?:(a)|b)\1$", "b", True),
        (r"^(?:(a)|b)\1$", "a", False),
        (r"^\1(a)$", "a", True),
        (r"^(a)(b)\2\1$", "abba", True),
        (r"^\uD83D\uDE00$", "😀", True),
        (r"^[\u{1F600}-\u{1F602}]$", "😁", True),
        (r"^\p{L}+$", "é", True),
        (r"^\P{Lu}$", "A", False),
        (r"^\p{Script=Greek}$", "α", True),
        (r"^\cJ\x41\0$", "\nA\0", True),
        ("^(?i:abc)$", "ABC", True),
        ("(?m:^b$)", "a\rb", True),
        ("^(?s:.)$", "\n", True),
        (r"^\-\@\/$", "-@/", True),
        (r"^[^\s@]+@[^\s@]+\.[^\s@]+$", "a@b.c", True),
        (r"^(?=.*[A-Z])(?=.*\d).{8,}$", "Abcdefg1", True),
        (r"^(?:$|,)*$", "", True),
        ("", "anything", True),
    ],
)
def test_a_pattern_means_what_ecma_262_says(pattern: str, text: str, found: bool) -> None:
    assert compile_schema({"pattern": pattern}).is_valid(text) is found
    assert compile_schema({"patternProperties": {pattern: False}}).is_valid({text: 1}) is not found


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?i)^abc$", "'(?i)' is no group of ECMA-262, which has no inline flags; spell out both cases"),
        ("a(?x) b", "(column 2)"),
        ("(?P<n>a)", "'(?P<' is Python's; write '(?<name>…)'"),
        ("(?>a)", "'(?>a' is no group of ECMA-262"),
        ("(?#remark)a", "is no group of ECMA-262"),
        (r"\Aabc", r"'\A' means nothing in an ECMA-262 pattern; write '^' (column 1)"),
        (r"abc\Z", r"'\Z' means nothing in an ECMA-262 pattern; write '$' (column 4)"),
        (r"\Qa\E", "write a backslash before each character"),
        (r"\h+", "means nothing"),
        (r"[\B]", "means nothing"),
        ("a++", "nothing to repeat before '+' (column 3)"),
        ("*a", "nothing to repeat before '*' (column 1)"),
        ("a**", "nothing to repeat"),
        ("^*", "an assertion cannot be repeated"),
        ("(?=a)+", "an assertion cannot be repeated"),
        ("a{2,1}", "the numbers in '{2,1}' are out of order"),
        ("a{999999999}", "repeats more than 100000 times"),
        ("a{b}", r"write '\{' for a literal brace (column 2)"),
        ("(a", r"'(' is never closed; write '\(' for a literal one (column 1)"),
        ("a)", "unmatched ')'"),
        ("[a", "'[' is never closed"),
        ("[z-a]", "the range 'z-a' is out of order (column 2)"),
        ("a\\", "ends with a backslash"),
        (r"\1", r"'\1' refers to a group that is not there"),
        (r"\k<n>", "needs the name of a group"),
        ("(?<n>a)(?<n>b)", "two groups are named 'n'"),
        (r"\x4", "needs two hexadecimal digits"),
        (r"\u12", "needs four hexadecimal digits"),
        (r"\uD83D", "is no character"),
        (r"\u{110000}", "is no character"),
        (r"\p{letter}", "did you mean 'Letter'?"),
        (r"\p{Greek}", "for a script write 'Script=Greek'"),
        (r"\p{gc=Big}", "no general category"),
        (r"\pL", "needs a property"),
        ("\bssn\b", r"for a word boundary write '\b' in single quotes, or '\\b' in double quotes"),
        ("foo\n", "'|-' instead of '|' before a block"),
        ("\x00", "U+0000"),
        ("(" * 5000 + ")" * 5000, "nests too deep"),
        # nothing can match these
        ("a^b", "can never match"),
        ("x$y", "can never match"),
        ("a(^b)", "can never match"),
        ("(^a){2}", "can never match"),
        ("(a$|b$)c", "can never match"),
        ("[]", "can never match"),
        (r"[^\s\S]", "can never match"),
        ("a(?!)", "can never match"),
    ],
)
def test_what_is_no_pattern_is_refused_with_reason_and_column(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError) as caught:
        translated(pattern)
    assert reason in str(caught.value)
    assert "(column " in str(caught.value)


def test_a_violation_under_a_pattern_is_told_at_its_own_line() -> None:
    policy = """tools:
  pay:
    schema:
      patternProperties:
        "^.mount$":
          maximum: 30
"""
    suite = {"tests": [{"id": "t", "metric": "args_valid", "policy": "p.yaml"}]}
    (violation,) = judge_one(suite, trace([call("pay", {"amount": 50})]), p__yaml=policy).violations
    assert (violation.policy_line, violation.constraint) == (6, "maximum: 30")
