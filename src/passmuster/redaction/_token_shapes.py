"""Keys and tokens of known services: how each begins, and what follows.

Every pattern is searched in time linear in the text. A token may begin only where no token character stands
before it, so that a search cannot start again inside a long run; repetitions that could be undone are possessive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

Span = tuple[int, int]

_C = "[A-Za-z0-9_-]"
_ANY = "[A-Za-z0-9]"
_HEX = "[A-Fa-f0-9]"
_DIGIT_WITHIN = rf"(?={_C}{{0,15}}[0-9])"
"""For prefixes that English words have too: a digit is near."""

_MODELS = {
    "sk-": rf"(?:{_C}{{16,}}|(?=[A-Za-z_-]{{0,15}}[0-9]){_C}{{8,15}})",
    "sk_": rf"{_HEX}{{32,}}",
    "csk-": rf"{_DIGIT_WITHIN}{_C}{{24,}}",
    "r8_": rf"{_ANY}{{16,}}",
    "pplx-": rf"{_ANY}{{16,}}",
    "gsk_": rf"{_ANY}{{20,}}",
    "xai-": rf"{_C}{{20,}}",
    "nvapi-": rf"{_C}{{20,}}",
    "hf_": rf"{_ANY}{{16,}}",
    "api_org_": rf"{_ANY}{{20,}}",
    "fw_": rf"{_DIGIT_WITHIN}{_ANY}{{20,}}",
    "tgp_v1_": rf"{_C}{{20,}}",
    "tvly-": rf"{_C}{{16,}}",
    "jina_": rf"{_ANY}{{20,}}",
    "pcsk_": r"[A-Za-z0-9_]{20,}",
    "apify_api_": rf"{_ANY}{{16,}}",
    "bb_live_": rf"{_C}{{16,}}",
    "e2b_": rf"{_HEX}{{20,}}",
    "lsv2_": r"(?:pt|sk)_[A-Za-z0-9_]{16,}",
    "ls__": rf"{_HEX}{{20,}}",
    "esecret_": rf"{_ANY}{{16,}}",
}
_CLOUDS = {
    **dict.fromkeys(("AKIA", "ASIA", "ABIA", "ACCA"), r"[A-Z0-9]{12,}"),
    "ABSK": r"[A-Za-z0-9+/=]{40,}",
    "IQoJb3JpZ2lu": r"[A-Za-z0-9+/=%]{40,}",
    "FwoGZXIvYXdz": r"[A-Za-z0-9+/=%]{40,}",
    "AIza": rf"{_C}{{20,}}",
    "ya29.": rf"{_C}{{10,}}",
    "GOCSPX-": rf"{_C}{{16,}}",
    "LTAI": rf"{_ANY}{{12,}}",
    "AKID": rf"{_DIGIT_WITHIN}{_ANY}{{13,}}",
    "dapi": rf"{_HEX}{{32}}",
    **{f"do{kind}_v1_": r"[a-f0-9]{16,}" for kind in "por"},
    "HRKU-": rf"{_C}{{20,}}",
    "fm2_": r"[A-Za-z0-9+/=_-]{20,}",
    "fo1_": rf"{_C}{{20,}}",
    "nfp_": rf"{_ANY}{{20,}}",
    "vcp_": rf"{_ANY}{{20,}}",
    "tskey-": rf"{_C}{{16,}}",
    "pul-": r"[a-f0-9]{40}",
    "sbp_": rf"{_HEX}{{20,}}",
    "sb_secret_": rf"{_C}{{16,}}",
    **{f"pscale_{kind}_": r"[A-Za-z0-9_.=-]{20,}" for kind in ("tkn", "pw", "oauth")},
    **{f"dp.{kind}.": rf"{_ANY}{{20,}}" for kind in ("pt", "st", "ct", "sa", "scim", "audit")},
    **{f"hv{kind}.": rf"{_C}{{20,}}" for kind in "sbr"},
    "AQVN": rf"{_C}{{30,}}",
    "dt0c01.": r"[A-Z0-9]{20,}\.[A-Z0-9]{30,}",
    "NRAK-": rf"{_ANY}{{20,}}",
    "NRII-": rf"{_C}{{20,}}",
}
_CODE = {
    **{f"gh{kind}_": rf"{_ANY}{{16,}}" for kind in "pousr"},
    "github_pat_": r"[A-Za-z0-9_]{16,}",
    **{
        f"gl{kind}-": rf"{_C}{{16,}}"
        for kind in ("pat", "ptt", "dt", "rt", "cbt", "soat", "ft", "agent", "imt", "oas", "ffct")
    },
    "npm_": rf"{_ANY}{{16,}}",
    "pypi-": rf"(?:Ag{_C}{{8,}}|{_C}{{40,}})",
    "dckr_pat_": rf"{_C}{{16,}}",
    "dckr_oat_": rf"{_C}{{16,}}",
    "rubygems_": rf"{_HEX}{{20,}}",
    "CLOJARS_": rf"{_HEX}{{20,}}",
    "oy2": rf"{_DIGIT_WITHIN}[a-z0-9]{{43}}",
    "bkua_": rf"{_HEX}{{20,}}",
    "CCIPAT_": r"[A-Za-z0-9_]{20,}",
    "ATATT3": r"[A-Za-z0-9_=-]{16,}",
    "ATCTT3": r"[A-Za-z0-9_=-]{16,}",
    "ATBB": rf"{_DIGIT_WITHIN}{_ANY}{{16,}}",
    "lin_api_": rf"{_ANY}{{16,}}",
    "lin_oauth_": rf"{_ANY}{{16,}}",
    "figd_": rf"{_C}{{16,}}",
    "figo_": rf"{_C}{{16,}}",
    "PMAK-": rf"{_HEX}{{16,}}-{_HEX}{{16,}}",
    "sgp_": r"[A-Za-z0-9_]{20,}",
    "sntrys_": r"[A-Za-z0-9+/=_-]{20,}",
    "sntryu_": rf"{_HEX}{{20,}}",
    "glsa_": r"[A-Za-z0-9_]{20,}",
    "glc_": r"[A-Za-z0-9+/=]{30,}",
    "AGE-SECRET-KEY-1": r"[0-9A-Z]{16,}",
    "ops_eyJ": rf"{_C}{{20,}}",
    "pnu_": rf"{_ANY}{{20,}}",
    "rdme_": r"[a-z0-9]{30,}",
    "CFPAT-": rf"{_C}{{20,}}",
}
_OFFICE = {
    **{f"{kind}_{mode}_": rf"{_ANY}{{8,}}" for kind in ("sk", "rk") for mode in ("live", "test")},
    "whsec_": r"[A-Za-z0-9+/=]{16,}",
    **{f"xox{kind}-": r"[A-Za-z0-9-]{8,}" for kind in "abeoprs"},
    "xoxe.xox": r"[bp]-[A-Za-z0-9-]{8,}",
    "xapp-": r"[A-Za-z0-9-]{16,}",
    "hooks.slack.com/services/": r"[A-Za-z0-9/]{16,}",
    "discord.com/api/webhooks/": rf"[0-9]{{10,}}/{_C}{{20,}}",
    "SG.": rf"{_C}{{10,}}\.{_C}{{10,}}",
    **{f"shp{kind}_": r"[A-Fa-f0-9]{16,}" for kind in ("at", "ss", "ca", "pa")},
    **{f"sq0{kind}-": rf"{_C}{{16,}}" for kind in ("atp", "csp")},
    "EAA": rf"(?={_C}{{0,40}}[0-9]){_C}{{57,}}",
    "access_token$": r"(?:production|sandbox)\$[a-z0-9$]{20,}",
    "rzp_live_": rf"{_ANY}{{14,}}",
    "FLWSECK": r"[_-][A-Za-z0-9_-]{16,}",
    "shippo_live_": rf"{_HEX}{{20,}}",
    "duffel_live_": rf"{_C}{{20,}}",
    "xkeysib-": rf"{_C}{{20,}}",
    "xsmtpsib-": rf"{_C}{{20,}}",
    "key-": rf"{_HEX}{{32}}",
    "SK": r"[a-f0-9]{32}",
    "re_": rf"{_DIGIT_WITHIN}{_ANY}{{6,}}_{_ANY}{{16,}}",
    "ntn_": rf"{_ANY}{{20,}}",
    "secret_": rf"{_DIGIT_WITHIN}{_ANY}{{40,}}",
    "pat-": rf"[a-z]{{2}}[0-9]-{_HEX}{{8}}-[A-Fa-f0-9-]{{20,}}",
    "pat": rf"{_ANY}{{14}}\.{_HEX}{{40,}}",
    "tfp_": rf"{_C}{{30,}}",
    "phx_": rf"{_ANY}{{20,}}",
    "sk.eyJ": rf"{_C}{{10,}}\.{_C}{{10,}}",
    "EZAK": rf"{_ANY}{{40,}}",
    "aio_": rf"{_DIGIT_WITHIN}{_ANY}{{24,}}",
}
TOKENS: dict[str, str] = {
    **_MODELS,
    **_CLOUDS,
    **_CODE,
    **_OFFICE,
    # A JWT, also without its signature; a JWE has five parts.
    "eyJ": rf"{_C}{{5,}}+(?:\.eyJ{_C}*+(?:\.{_C}++){{0,3}}|\.{_C}*+\.{_C}*+(?:\.{_C}++){{0,2}})",
}

# At the beginning of a word, or after an escape (`%20`, a literal `\\n`).
_BEGINS = rf"(?:(?<!{_C})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\\[nrt]))"
_SHAPES: tuple[tuple[str, str], ...] = (
    ("1//0", rf"{_BEGINS}1//0{_C}{{30,}}"),  # refresh tokens of Google
    (":AA", rf"{_BEGINS}[0-9]{{6,12}}+:AA{_C}{{30,}}"),  # Telegram
    (".", rf"{_BEGINS}[MNO]{_C}{{22,27}}\.{_C}{{6}}\.{_C}{{27,}}"),  # Discord
    ("-us", rf"{_BEGINS}[a-f0-9]{{32}}-us[0-9]{{1,2}}\b"),  # Mailchimp
    (".atlasv1.", rf"{_BEGINS}{_ANY}{{14}}\.atlasv1\.{_C}{{40,}}"),  # Terraform
    ("Q~", rf"{_BEGINS}[A-Za-z0-9_~.]{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{31,34}}"),  # Azure client secrets
    ("AAAAAAAAA", rf"{_BEGINS}A{{18,}}+[A-Za-z0-9%]{{30,}}"),  # Twitter bearer tokens
    (":", rf"{_BEGINS}[12]/[0-9]{{10,20}}(?:/[0-9]{{10,20}})?:{_HEX}{{32}}"),  # Asana
    (":", rf"{_BEGINS}{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}:{_HEX}{{32}}"),  # fal.ai
)
_LONG_RUN = re.compile(r"[A-Za-z0-9_.$:/~+=-]{11}")
_VERY_LONG_RUN = re.compile(r"[A-Za-z0-9_.$:/~+=%-]{30}")
"""No token is shorter than the first, and none without a prefix than the second: most texts need no further look."""
_HEAD = re.compile(rf"{_BEGINS}(?=([A-Za-z0-9]{{2}}))")


def token_spans(text: str) -> Iterator[Span]:
    """Where tokens of known services stand in the text."""
    if not _LONG_RUN.search(text):
        return
    heads = _by_head()
    for begins in _HEAD.finditer(text):
        for prefix in heads.get(begins[1], ()):
            start = begins.start()
            if text.startswith(prefix, start) and (rest := _rest(prefix).match(text, start + len(prefix))):
                yield start, rest.end()
    if _VERY_LONG_RUN.search(text):
        for hint, shape in _SHAPES:
            if hint in text:
                yield from (found.span() for found in re.finditer(shape, text))


@cache
def _by_head() -> dict[str, list[str]]:
    """The prefixes by their first two characters."""
    heads: dict[str, list[str]] = {}
    for prefix in TOKENS:
        heads.setdefault(prefix[:2], []).append(prefix)
    return heads


@cache
def _rest(prefix: str) -> re.Pattern[str]:
    """What follows a prefix, compiled at first use: most runs meet no secret."""
    return re.compile(TOKENS[prefix])
