"""Sets of characters in the patterns of ECMA-262, spelt out for an engine that would read them otherwise."""

from __future__ import annotations

from passmuster._problems import did_you_mean

ENDS = r"\n\r\x{2028}\x{2029}"
ANY = r"[\x{0}-\x{10FFFF}]"
NOTHING = r"[^\x{0}-\x{10FFFF}]"
WORD = "0-9A-Za-z_"
_SPACE = r"\t\n\x{B}\x{C}\r\x{20}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}"
SETS = {
    "d": "0-9",
    "D": r"\x{0}-\x{2F}\x{3A}-\x{10FFFF}",
    "w": WORD,
    "W": r"\x{0}-\x{2F}\x{3A}-\x{40}\x{5B}-\x{5E}\x{60}\x{7B}-\x{10FFFF}",
    "s": _SPACE,
    "S": (
        r"\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}"
        r"\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}"
    ),
}
"""What is between the brackets of a set; the engine takes no set within a set."""
_CATEGORIES_TEXT = (
    "C Other Cc Control Cf Format Cn Unassigned Co Private_Use Cs Surrogate L Letter LC Cased_Letter Ll "
    "Lowercase_Letter Lm Modifier_Letter Lo Other_Letter Lt Titlecase_Letter Lu Uppercase_Letter M Mark "
    "Combining_Mark Mc Spacing_Mark Me Enclosing_Mark Mn Nonspacing_Mark N Number Nd Decimal_Number digit Nl "
    "Letter_Number No Other_Number P Punctuation punct Pc Connector_Punctuation Pd Dash_Punctuation Pe "
    "Close_Punctuation Pf Final_Punctuation Pi Initial_Punctuation Po Other_Punctuation Ps Open_Punctuation S "
    "Symbol Sc Currency_Symbol Sk Modifier_Symbol Sm Math_Symbol So Other_Symbol Z Separator Zl Line_Separator Zp "
    "Paragraph_Separator Zs Space_Separator "
)
_CATEGORIES = frozenset(_CATEGORIES_TEXT.split())
_BINARY_TEXT = (
    "ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C Bidi_Mirrored Bidi_M "
    "Case_Ignorable CI Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased "
    "CWL Changes_When_NFKC_Casefolded CWKCF Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash "
    "Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod "
    "Emoji_Modifier_Base EBase Emoji_Presentation EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base "
    "Gr_Base Grapheme_Extend Gr_Ext Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue "
    "IDC ID_Start IDS Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math "
    "Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS Quotation_Mark QMark Radical "
    "Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation Term Unified_Ideograph "
    "UIdeo Uppercase Upper Variation_Selector VS White_Space space XID_Continue XIDC XID_Start XIDS "
)
_BINARY = frozenset(_BINARY_TEXT.split())
_SCRIPT = ("Script", "sc", "Script_Extensions", "scx")


def why_no_property(name: str) -> str | None:
    """Why `\\p{name}` is no property of ECMA-262; whether a script is known is for the engine to say."""
    key, _, value = name.partition("=")
    if not value:
        known = sorted(_CATEGORIES | _BINARY)
        hint = did_you_mean(name, known) or f"; for a script write 'Script={name}'"
        return None if name in known else f"'\\p{{{name}}}' is no property of ECMA-262{hint}"
    if key in ("General_Category", "gc"):
        return (
            None
            if value in _CATEGORIES
            else f"'{value}' is no general category{did_you_mean(value, sorted(_CATEGORIES))}"
        )
    return None if key in _SCRIPT else f"'{key}' is no property with values{did_you_mean(key, _SCRIPT)}"


def literal(code: int) -> str:
    """The character, in a set and outside one."""
    return chr(code) if (code > 127 and chr(code).isalnum()) or chr(code) in _PLAIN else f"\\x{{{code:X}}}"


_PLAIN = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_@:;,!%=\"'")
