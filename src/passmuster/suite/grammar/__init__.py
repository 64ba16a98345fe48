"""The grammar of the suite language: value types and records, each key declared once.

A *value type* says what may stand in a place of a suite: it reads a node into a Python value, noting located problems,
and gives the JSON Schema of what it reads. A *record* is a Struct whose annotated fields declare the keys of a map. The
reader, did-you-mean hints, the JSON Schema for editors and the reference tables all come from these declarations.
"""
