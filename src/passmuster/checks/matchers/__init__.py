"""Matchers: what an argument, a result or an answer field has to be; how each is written, evaluated and described."""

from passmuster.checks.matchers._grammar import ARGS, MATCHER, MatcherWords
from passmuster.checks.matchers._matchers import Equal, Fits, Matcher, compile_args
