"""Records the statements that Orbit sends for each act, for the floor to send as well.

Prints JSON: for each act its parts, each with `is_atomic` (within BEGIN and COMMIT, or
each statement for itself) and `statements`, lists of [statement, parameters].
"""

import itertools
import json
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import django

django.setup()

from django.db import connection  # noqa: E402 (needs the apps)
from django.test import Client  # noqa: E402

from bench.orbit.engine import Engine  # noqa: E402
from bench.orbit.place import Place, place_of_environment  # noqa: E402
from tokens_app import public as tokens  # noqa: E402

Parameters = Mapping[str, object] | Sequence[object]
Statement = tuple[str, dict[str, object]]
Part = dict[str, object]

TRIGGERED = 202


def plain(value: object) -> object:
    """A parameter as JSON can carry it."""
    if isinstance(value, list):
        return [plain(member) for member in value]
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, int | float) else str(value)


def named(sql: str, params: Parameters) -> Statement:
    """A statement whose every parameter has a name."""
    if not isinstance(params, Mapping):
        for number in range(len(params)):
            sql = sql.replace("%s", f"%(p{number})s", 1)
        params = {f"p{number}": value for number, value in enumerate(params)}
    return sql, {name: plain(value) for name, value in params.items()}


def captured(act: Callable[[], object]) -> list[Statement]:
    """What `act` sends."""
    return [statement for _, statement in observed(act)]


def observed(act: Callable[[], object]) -> list[tuple[bool, Statement]]:
    """What `act` sends, each with whether it is within a transaction."""
    statements: list[tuple[bool, Statement]] = []

    def note(
        execute: Callable[..., object],
        sql: str,
        params: Parameters | None,
        many: bool,  # noqa: FBT001 (Django calls it so)
        context: dict[str, Any],
    ) -> object:
        statements.append((connection.in_atomic_block, named(sql, params or {})))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        act()
    return statements


def authentication(token: str) -> list[Statement]:
    """What a request asks about its token, once the token's use was noted."""
    header = f"Bearer {token}"

    def authenticate() -> None:
        tokens.authenticate(authorization=header, audience="TASKS", address=None)

    authenticate()
    return captured(authenticate)


def trigger(place: Place) -> list[Part]:
    """All of a trigger by a new key, its authentication and its answer included."""
    client = Client(headers={"host": "127.0.0.1"})

    def post() -> None:
        answer = client.post(
            f"/openapi/v1/jobs/{place.job_id}/executions",
            content_type="application/json",
            headers={
                "authorization": f"Bearer {place.job_tokens[0]}",
                "idempotency-key": uuid.uuid4().hex,
            },
        )
        if answer.status_code != TRIGGERED:
            raise RuntimeError(answer.content)

    post()
    return [
        part([statement for _, statement in statements], is_atomic=is_atomic)
        for is_atomic, statements in itertools.groupby(
            observed(post), key=lambda sent: sent[0]
        )
    ]


def part(statements: list[Statement], *, is_atomic: bool = True) -> Part:
    """One part of an act."""
    return {"is_atomic": is_atomic, "statements": statements}


def uncertain_or_failed(engine: Engine, *, kind: str) -> UUID:
    """A new task that a worker reported as `kind`."""
    engine.submit(1)
    (assignment,) = engine.claim(1)
    engine.report([assignment], kind=kind)
    return assignment.task.id


def transactions(act: str, engine: Engine) -> list[list[Statement]]:
    """The act's statements, one list for each transaction."""
    if act == "submit":
        return [captured(lambda: engine.submit(1))]
    if act == "drain":
        engine.submit(1)
        assignments: list[Any] = []
        claimed = captured(lambda: assignments.extend(engine.claim(1)))
        return [claimed, captured(lambda: engine.report(assignments))]
    if act == "review":
        task = uncertain_or_failed(engine, kind="unknown")
        return [captured(lambda: engine.review(task, revision=3))]
    task = uncertain_or_failed(engine, kind="fail")
    return [captured(lambda: engine.retry(task, revision=3))]


def main() -> None:
    """Do each act once under observation."""
    place = place_of_environment()
    engine = Engine(place)
    seen: dict[str, list[Part]] = {
        "authenticate": [part(authentication(place.token), is_atomic=False)],
        "trigger": trigger(place),
    }
    for act in ("submit", "drain", "review", "retry"):
        seen[act] = [part(sent) for sent in transactions(act, engine)]
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
