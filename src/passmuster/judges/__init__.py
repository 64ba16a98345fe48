"""Judges: models that are asked what no code can decide, and what they have answered before.

`asking.ask_all` is the door: questions in, verdicts or failures out, in the same order. `config` says who is asked,
`canaries` how easily that judge is swayed. A vendor's SDK is imported when it is first asked.
"""
