"""Judges: models that are asked what no code can decide, and what they have answered before.

`asking.Judges` is the door: questions in, verdicts or failures out, in the same order; `asking.ask_all` opens it for
one batch. `config` says who is asked, `canaries` how easily that judge is swayed, `audit` how good it is. A vendor's
SDK is imported when it is first asked.
"""
