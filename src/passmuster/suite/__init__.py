"""Suites: text with positions, the grammar of the suite language, and the typed `Suite`."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.suite._discovery import display as display
    from passmuster.suite._discovery import find_root as find_root
    from passmuster.suite._discovery import find_suite as find_suite
    from passmuster.suite._editing import Edit as Edit
    from passmuster.suite._editing import differences as differences
    from passmuster.suite._editing import edit_bounds as edit_bounds
    from passmuster.suite._files import Shelf as Shelf
    from passmuster.suite._gate_model import BaselineSpec as BaselineSpec
    from passmuster.suite._gate_model import Bound as Bound
    from passmuster.suite._gate_model import Classification as Classification
    from passmuster.suite._gate_model import Comment as Comment
    from passmuster.suite._gate_model import Criteria as Criteria
    from passmuster.suite._gate_model import Expression as Expression
    from passmuster.suite._gate_model import Formula as Formula
    from passmuster.suite._gate_model import LabelSource as LabelSource
    from passmuster.suite._gate_model import Listed as Listed
    from passmuster.suite._gate_model import Name as Name
    from passmuster.suite._gate_model import Number as Number
    from passmuster.suite._gate_model import Operation as Operation
    from passmuster.suite._gate_model import Operator as Operator
    from passmuster.suite._gate_model import Prefix as Prefix
    from passmuster.suite._gate_model import Progressive as Progressive
    from passmuster.suite._gate_model import Risk as Risk
    from passmuster.suite._gate_model import RiskBound as RiskBound
    from passmuster.suite._gate_model import Stage as Stage
    from passmuster.suite._gate_model import Step as Step
    from passmuster.suite._gate_model import Thresholds as Thresholds
    from passmuster.suite._gate_model import Weights as Weights
    from passmuster.suite._gate_model import compare as compare
    from passmuster.suite._json_schema import suite_schema as suite_schema
    from passmuster.suite._load import load_suite as load_suite
    from passmuster.suite._model import CheckKind as CheckKind
    from passmuster.suite._model import Effects as Effects
    from passmuster.suite._model import FailedWhen as FailedWhen
    from passmuster.suite._model import Scenario as Scenario
    from passmuster.suite._model import Suite as Suite
    from passmuster.suite._model import Test as Test
    from passmuster.suite._quantities import BOUND_SCHEMA as BOUND_SCHEMA
    from passmuster.suite._quantities import CONFIDENCE as CONFIDENCE
    from passmuster.suite._quantities import WEIGHT as WEIGHT
    from passmuster.suite._quantities import Quantity as Quantity
    from passmuster.suite._quantities import RepeatPolicy as RepeatPolicy
    from passmuster.suite._quantities import as_rate as as_rate
    from passmuster.suite._quantities import decimal_digits as decimal_digits
    from passmuster.suite._quantities import limited as limited
    from passmuster.suite._quantities import number_text as number_text
    from passmuster.suite._quantities import quantity_of as quantity_of
    from passmuster.suite._quantities import share as share
    from passmuster.suite._resolved_key import ResolvedKey as ResolvedKey
    from passmuster.suite._resolved_key import Resolver as Resolver
    from passmuster.suite._stated import Behavior as Behavior
    from passmuster.suite._stated import Layer as Layer
    from passmuster.suite._stated import LayerValue as LayerValue
    from passmuster.suite.grammar._globs import escape_glob as escape_glob
    from passmuster.suite.grammar._globs import glob_matcher as glob_matcher
    from passmuster.suite.grammar._globs import is_literal as is_literal
    from passmuster.suite.grammar._globs import why_bad_glob as why_bad_glob
    from passmuster.suite.grammar._reader import Reader as Reader
    from passmuster.suite.grammar._records import Field as Field
    from passmuster.suite.grammar._records import Key as Key
    from passmuster.suite.grammar._records import Mistake as Mistake
    from passmuster.suite.grammar._records import Record as Record
    from passmuster.suite.grammar._records import RecordOf as RecordOf
    from passmuster.suite.grammar._records import fields_of as fields_of
    from passmuster.suite.grammar._records import key_schema as key_schema
    from passmuster.suite.grammar._records import object_schema as object_schema
    from passmuster.suite.grammar._records import read_record as read_record
    from passmuster.suite.grammar._values import AMOUNT as AMOUNT
    from passmuster.suite.grammar._values import ANYTHING as ANYTHING
    from passmuster.suite.grammar._values import BOOLEAN as BOOLEAN
    from passmuster.suite.grammar._values import FRACTION as FRACTION
    from passmuster.suite.grammar._values import NUMBER as NUMBER
    from passmuster.suite.grammar._values import PATH as PATH
    from passmuster.suite.grammar._values import PROSE as PROSE
    from passmuster.suite.grammar._values import REGEX as REGEX
    from passmuster.suite.grammar._values import TEXT as TEXT
    from passmuster.suite.grammar._values import TOOL_PATTERN as TOOL_PATTERN
    from passmuster.suite.grammar._values import WHOLE as WHOLE
    from passmuster.suite.grammar._values import Choice as Choice
    from passmuster.suite.grammar._values import Custom as Custom
    from passmuster.suite.grammar._values import Definitions as Definitions
    from passmuster.suite.grammar._values import Either as Either
    from passmuster.suite.grammar._values import JsonSchema as JsonSchema
    from passmuster.suite.grammar._values import Late as Late
    from passmuster.suite.grammar._values import ListOf as ListOf
    from passmuster.suite.grammar._values import MapOf as MapOf
    from passmuster.suite.grammar._values import Named as Named
    from passmuster.suite.grammar._values import OneOrMore as OneOrMore
    from passmuster.suite.grammar._values import Slot as Slot
    from passmuster.suite.grammar._values import Text as Text
    from passmuster.suite.grammar._values import Unread as Unread
    from passmuster.suite.grammar._values import Value as Value
    from passmuster.suite.grammar._values import Vocabulary as Vocabulary
    from passmuster.suite.grammar._values import Whole as Whole
    from passmuster.suite.text._nodes import Entry as Entry
    from passmuster.suite.text._nodes import Mapping as Mapping
    from passmuster.suite.text._nodes import Node as Node
    from passmuster.suite.text._nodes import Scalar as Scalar
    from passmuster.suite.text._nodes import Sequence as Sequence
    from passmuster.suite.text._nodes import kind_of as kind_of
    from passmuster.suite.text._nodes import node_of as node_of
    from passmuster.suite.text._nodes import plain as plain
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "_discovery": ("display", "find_root", "find_suite"),
            "_editing": ("Edit", "differences", "edit_bounds"),
            "_files": ("Shelf",),
            "_gate_model": (
                "BaselineSpec",
                "Bound",
                "Classification",
                "Comment",
                "Criteria",
                "Expression",
                "Formula",
                "LabelSource",
                "Listed",
                "Name",
                "Number",
                "Operation",
                "Operator",
                "Prefix",
                "Progressive",
                "Risk",
                "RiskBound",
                "Stage",
                "Step",
                "Thresholds",
                "Weights",
                "compare",
            ),
            "grammar._globs": ("escape_glob", "glob_matcher", "is_literal", "why_bad_glob"),
            "_json_schema": ("suite_schema",),
            "_stated": ("Behavior", "Layer", "LayerValue"),
            "_load": ("load_suite",),
            "_model": ("CheckKind", "Effects", "FailedWhen", "Scenario", "Suite", "Test"),
            "grammar._reader": ("Reader",),
            "_quantities": (
                "BOUND_SCHEMA",
                "CONFIDENCE",
                "WEIGHT",
                "Quantity",
                "RepeatPolicy",
                "as_rate",
                "decimal_digits",
                "limited",
                "number_text",
                "quantity_of",
                "share",
            ),
            "_resolved_key": ("ResolvedKey", "Resolver"),
            "text._nodes": ("Entry", "Mapping", "Node", "Scalar", "Sequence", "kind_of", "node_of", "plain"),
            "grammar._records": (
                "Field",
                "Key",
                "Mistake",
                "Record",
                "RecordOf",
                "fields_of",
                "key_schema",
                "object_schema",
                "read_record",
            ),
            "grammar._values": (
                "AMOUNT",
                "ANYTHING",
                "BOOLEAN",
                "Choice",
                "Custom",
                "Definitions",
                "Either",
                "FRACTION",
                "JsonSchema",
                "Late",
                "ListOf",
                "MapOf",
                "NUMBER",
                "Named",
                "OneOrMore",
                "PATH",
                "PROSE",
                "REGEX",
                "TEXT",
                "TOOL_PATTERN",
                "Slot",
                "Unread",
                "Vocabulary",
                "Text",
                "Value",
                "WHOLE",
                "Whole",
            ),
        },
    )
