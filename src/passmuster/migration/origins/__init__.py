"""Kinds of files that can be migrated, one module each; the module's name is the name of the kind.

A module declares `DESCRIPTION`, `recognize(document) -> bool` and `translate(document, draft) -> Mapping`.
"""
