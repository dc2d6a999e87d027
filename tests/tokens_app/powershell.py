"""As much of PowerShell's grammar as samples use, read by its own quoting rules.

about_Quoting_Rules: each single quote, curly ones too, begins and ends a verbatim
string and is written twice within one; each double quote an expandable string.
"""

import re

SINGLE = "'\u2018\u2019\u201a\u201b"
DOUBLE = '"\u201c\u201d\u201e'
PARTS = re.compile(
    rf"""
    (?P<here>@"\n.*?\n"@)
  | (?P<verbatim>[{SINGLE}](?:[^{SINGLE}]|[{SINGLE}]{{2}})*[{SINGLE}])
  | (?P<expandable>[{DOUBLE}](?:[^{DOUBLE}`])*[{DOUBLE}])
  | (?P<environment>\$env:[A-Za-z]+)
  | (?P<variable>\$[A-Za-z]+)
  | (?P<type>\[[a-z]+\]::[A-Za-z]+)
  | (?P<open>@\{{|\()
  | (?P<close>[}})])
  | (?P<word>[A-Za-z0-9.-]+)
  | (?P<sign>[=|;])
  | (?P<space>[\ \n]+)
    """,
    re.VERBOSE | re.DOTALL,
)
INSIDE = re.compile(r"\$(?:\{([A-Za-z]+)\}|([A-Za-z]+))")
PAIRS = {"@{": "}", "(": ")"}


def tokens_of(text):
    """Pairs of kind and text; AssertionError where the text is no PowerShell."""
    found, opened, at = [], [], 0
    while at < len(text):
        match = PARTS.match(text, at)
        assert match, text[at : at + 40]
        kind, part = match.lastgroup, match[0]
        at = match.end()
        if kind == "open":
            opened.append(PAIRS[part])
        elif kind == "close":
            assert opened.pop() == part
        elif kind == "variable":
            part = part[1:]
        elif kind in {"here", "expandable"}:
            inner = [one or other for one, other in INSIDE.findall(part)]
            assert part.count("$") == len(inner), part
            found += [("variable", name) for name in inner]
        if kind != "space":
            found.append((kind, part))
    assert not opened
    return found


def assignments(text):
    """What each assigned variable is; the values of verbatim strings are read."""
    found, parts = {}, tokens_of(text)
    for (kind, name), sign, (value_kind, value) in zip(
        parts, parts[1:], parts[2:], strict=False
    ):
        if kind == "variable" and sign == ("sign", "="):
            found[name] = _read(value) if value_kind == "verbatim" else value
    return found


def _read(verbatim):
    return re.sub(rf"([{SINGLE}])[{SINGLE}]", r"\1", verbatim[1:-1])
