"""Ready-made calls of the APIs, for exactly the scopes that a token has.

Every value from outside is quoted for the language it is written in, and stands alone
in the assignment of a variable; what follows is constant.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pprint import pformat

from tokens_app.domain.sample_calls import CALLS, SampleCall

SHELLS = ("curl", "powershell", "python")

_SLOT = re.compile(r"\{([A-Z_]+)\}")
_QUOTED_SLOT = re.compile(r"'\{([A-Z_]+)\}'")
# PowerShell ends a string at each of these (about_Quoting_Rules, smart quotes).
_SINGLE_QUOTES = re.compile(r"(['\u2018\u2019\u201a\u201b])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One call to copy: `text` is complete, `purpose` says what it does."""

    title: str
    purpose: str
    text: str


def samples(
    *,
    base_url: str,
    audience: str,
    scopes: Iterable[str],
    token: str | None,
    shell: str,
) -> list[Sample]:
    """The calls that the scopes allow, in the given shell.

    `shell` is curl (for sh, bash and zsh), powershell or python. Without a token the
    text reads it from the environment variable TOKEN. What the reader has to fill in
    is written as a variable with a value such as <JOB_ID>. Raises ValueError for
    another shell or audience.
    """
    if shell not in _WRITERS or audience not in CALLS:
        raise ValueError("There are no samples for this shell or audience.")
    held = frozenset(scopes)
    write = _WRITERS[shell]
    return [
        Sample(
            title=call.title,
            purpose=call.purpose,
            text=write(call, base_url.rstrip("/"), token),
        )
        for call in CALLS[audience]
        if call.scopes <= held
    ]


def _curl(call: SampleCall, base_url: str, token: str | None) -> str:
    lines = [f"BASE_URL={shlex.quote(base_url)}"]
    if token is not None:
        lines.append(f"TOKEN={shlex.quote(token)}")
    lines += [f"{name}={shlex.quote(f'<{name}>')}" for name in call.slots]
    arguments = ["curl -sS --globoff --max-time 30 -w '\\n'"]
    if call.method != "GET":
        arguments.append(f"-X {call.method}")
    arguments.append(f'"${{BASE_URL}}{_with_variables(call.path)}"')
    arguments.append('-H "Authorization: Bearer ${TOKEN}"')
    if call.has_key:
        # Made by what every Unix has; curl repeats the call itself, with this key.
        lines.append("KEY=\"$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')\"")
        arguments[0] += " --retry 3 --retry-connrefused"
        arguments.append('-H "Idempotency-Key: ${KEY}"')
    if call.body is None:
        lines.append(" \\\n  ".join(arguments))
    else:
        arguments.append("-H 'Content-Type: application/json'")
        lines += _curl_with_body(call, arguments)
    return "\n".join(lines) + "\n"


def _curl_with_body(call: SampleCall, arguments: list[str]) -> list[str]:
    body = json.dumps(call.body)
    if not _SLOT.search(body):
        return [" \\\n  ".join([*arguments, f"--data {shlex.quote(body)}"])]
    return [
        " \\\n  ".join([*arguments, "--data-binary @- <<JSON"]),
        _json(call),
        "JSON",
    ]


def _powershell(call: SampleCall, base_url: str, token: str | None) -> str:
    lines = [
        f"$BaseUrl = {_powershell_quoted(base_url)}",
        f"$Token = {'$env:TOKEN' if token is None else _powershell_quoted(token)}",
    ]
    names = {name: _camel(name) for name in call.slots}
    lines += [f"${names[slot]} = '<{slot}>'" for slot in call.slots]
    headers = '@{ Authorization = "Bearer $Token" }'
    if call.has_key:
        lines.append("$Key = [guid]::NewGuid().ToString('N')")
        headers = "@{ Authorization = \"Bearer $Token\"; 'Idempotency-Key' = $Key }"
    lines.append(f"$Headers = {headers}")
    request = (
        f"Invoke-RestMethod -Method {call.method.capitalize()} -Headers $Headers"
        f' -Uri "${{BaseUrl}}{_with_variables(call.path, names)}"'
    )
    if call.body is not None:
        lines += ['$Body = @"', _json(call, names), '"@']
        request += " -ContentType 'application/json' -Body $Body"
    lines.append(f"{request} | ConvertTo-Json -Depth 20")
    return "\n".join(lines) + "\n"


def _python(call: SampleCall, base_url: str, token: str | None) -> str:
    body = call.body is not None
    modules = ["json"] if body else []
    modules += ["os"] if token is None else []
    modules += ["time", "urllib.error"] if call.has_key else []
    modules += ["urllib.request"]
    modules += ["uuid"] if call.has_key else []
    held = 'os.environ["TOKEN"]' if token is None else json.dumps(token)
    lines = [f"import {name}" for name in modules]
    lines += ["", f"BASE_URL = {json.dumps(base_url)}", f"TOKEN = {held}"]
    lines += [f'{name} = "<{name}>"' for name in call.slots]
    if call.has_key:
        lines.append("KEY = uuid.uuid4().hex")
    if body:
        lines.append(f"BODY = {_python_literal(call)}")
    lines += [
        "",
        "request = urllib.request.Request(",
        f'    f"{{BASE_URL}}{call.path}",',
        f'    method="{call.method}",',
        '    headers={"Authorization": f"Bearer {TOKEN}"},',
    ]
    lines += ["    data=json.dumps(BODY).encode(),"] if body else []
    lines.append(")")
    if body:
        lines.append('request.add_header("Content-Type", "application/json")')
    if call.has_key:
        lines += ['request.add_header("Idempotency-Key", KEY)', _PYTHON_WITH_RETRY]
    else:
        lines.append(_PYTHON)
    return "\n".join(lines) + "\n"


_PYTHON = """\
with urllib.request.urlopen(request, timeout=30) as answer:
    print(answer.read().decode())"""

_PYTHON_WITH_RETRY = """\
for seconds in (1, 2, 4, 0):
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            print(answer.read().decode())
        break
    except urllib.error.HTTPError as error:
        if seconds == 0 or error.code not in (429, 502, 503, 504):
            raise SystemExit(error.read().decode())
        time.sleep(int(error.headers.get("Retry-After", seconds)))
    except OSError:
        if seconds == 0:
            raise
        time.sleep(seconds)"""


def _with_variables(text: str, names: Mapping[str, str] | None = None) -> str:
    return _SLOT.sub(lambda slot: f"${{{names[slot[1]] if names else slot[1]}}}", text)


def _json(call: SampleCall, names: Mapping[str, str] | None = None) -> str:
    return _with_variables(json.dumps(call.body, indent=2), names)


def _python_literal(call: SampleCall) -> str:
    literal = pformat(call.body, sort_dicts=False, width=76)
    return _QUOTED_SLOT.sub(r"\1", literal).replace("'", '"')


def _powershell_quoted(value: str) -> str:
    doubled = _SINGLE_QUOTES.sub(r"\1\1", value)
    return f"'{doubled}'"


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


_WRITERS: Mapping[str, Callable[[SampleCall, str, str | None], str]] = {
    "curl": _curl,
    "powershell": _powershell,
    "python": _python,
}
