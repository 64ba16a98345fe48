"""Suites: text with positions, the grammar of the suite language, and the typed `Suite`."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.suite._add_scenario import add_scenario
    from passmuster.suite._agent import Agent
    from passmuster.suite._discovery import FOREIGN_NAMES, SUITE_NAMES, display, find_root, find_suite
    from passmuster.suite._editing import Edit, differences, edit_bounds
    from passmuster.suite._files import Documents
    from passmuster.suite._gate_model import (
        BaselineSpec,
        Bound,
        Classification,
        Comment,
        Criteria,
        Expression,
        Formula,
        LabelSource,
        Listed,
        Name,
        Number,
        Operation,
        Operator,
        Prefix,
        Progressive,
        Risk,
        RiskBound,
        Stage,
        Step,
        Thresholds,
        Weights,
        compare,
    )
    from passmuster.suite._json_schema import suite_schema
    from passmuster.suite._load import GATE_KEYS, load_suite
    from passmuster.suite._model import CheckKind, FailedWhen, Scenario, Suite, Test, Turn, Waiver
    from passmuster.suite._quantities import (
        BOUND_SCHEMA,
        CONFIDENCE,
        DURATION,
        WEIGHT,
        Quantity,
        RepeatPolicy,
        as_rate,
        decimal_digits,
        limited,
        number_text,
        quantity_of,
        share,
    )
    from passmuster.suite._stated import Behavior, Layer, LayerValue, ResolvedKey, Resolver
    from passmuster.suite._suite_file import SuiteFile
    from passmuster.suite.grammar._globs import escape_glob, glob_matcher, is_literal, why_bad_glob, why_no_tool
    from passmuster.suite.grammar._reader import Reader
    from passmuster.suite.grammar._records import (
        Field,
        Key,
        Mistake,
        Record,
        RecordOf,
        fields_of,
        first_line,
        key_schema,
        object_schema,
        read_record,
        reference_rows,
    )
    from passmuster.suite.grammar._values import (
        AMOUNT,
        ANYTHING,
        BOOLEAN,
        FRACTION,
        NUMBER,
        PATH,
        PHRASE,
        PROSE,
        REGEX,
        TEXT,
        TEXT_FILE,
        TOOL_PATTERN,
        WHOLE,
        Choice,
        Custom,
        Definitions,
        Either,
        JsonSchema,
        Late,
        ListOf,
        MapOf,
        OneOrMore,
        Text,
        Unread,
        Value,
        Vocabulary,
        Whole,
        address_of_api,
    )
    from passmuster.suite.text._nodes import Entry, Mapping, Node, Scalar, Sequence, kind_of, node_at, node_of, plain
else:
    __getattr__ = lazy_exports(__name__)
