"""Late imports serve start-up time and hide no cycle; imports for type checkers do not count."""

from __future__ import annotations

import graphlib

import grimp


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph("passmuster", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert tuple(graphlib.TopologicalSorter(imports).static_order())  # raises `CycleError`, which names one
