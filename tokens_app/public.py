"""The door of the token workbench: who is calling, and what may they do."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from orbit.http.request_id import request_id_of
from tokens_app import queries
from tokens_app.actions.edit_token import edit_token
from tokens_app.actions.issue_token import issue_token
from tokens_app.actions.record_calls import record_call
from tokens_app.actions.record_token_use import record_token_use
from tokens_app.actions.resume_token import resume_token
from tokens_app.actions.revoke_token import revoke_token
from tokens_app.actions.rotate_token import rotate_token
from tokens_app.actions.suspend_token import suspend_token
from tokens_app.domain.call import Call, route_of
from tokens_app.domain.errors import (
    TokenAlreadyRotated,
    TokenInvalid,
    TokenNotActive,
    TokenNotFound,
    TokenRejected,
)
from tokens_app.domain.grant import Actor, TokenGrant
from tokens_app.domain.issued import IssuedToken
from tokens_app.domain.range_catalogue import (
    Place,
    RangeCatalogue,
    RangeMember,
    TokenExecution,
    TokenRange,
    register_range_catalogue,
)
from tokens_app.domain.rotation import Rotation, RotationReason
from tokens_app.domain.scope import AUDIENCES, SCOPES, Audience, read_scopes
from tokens_app.domain.secret import digests_of, matches_any, read_authorization
from tokens_app.domain.token_edit import TokenEdit
from tokens_app.models.peppers import peppers
from tokens_app.queries import Credential, ExpiringToken, token_names, tokens_expiring

__all__ = [
    "AUDIENCES",
    "SCOPES",
    "Actor",
    "Audience",
    "ExpiringToken",
    "IssuedToken",
    "Place",
    "Principal",
    "RangeCatalogue",
    "RangeMember",
    "Rotation",
    "RotationReason",
    "TokenAlreadyRotated",
    "TokenEdit",
    "TokenExecution",
    "TokenGrant",
    "TokenInvalid",
    "TokenNotActive",
    "TokenNotFound",
    "TokenRange",
    "TokenRejected",
    "authenticate",
    "edit_token",
    "issue_token",
    "note_call",
    "register_range_catalogue",
    "resume_token",
    "revoke_token",
    "rotate_token",
    "suspend_token",
    "token_names",
    "tokens_expiring",
]

_NOTHING_STORED = ((None, None), (None, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """An authenticated caller, good for this one request.

    Empty ranges mean nothing, never everything. The limits are calls a minute and
    override the API's defaults where they are set.
    """

    token_id: UUID
    key_id: str
    name: str
    audience: str
    namespace_id: UUID
    application_id: UUID | None
    scopes: frozenset[str]
    queue_ids: tuple[UUID, ...]
    job_ids: tuple[UUID, ...]
    job_groups: tuple[str, ...]
    expires_at: datetime
    reads_per_minute: int | None = None
    triggers_per_minute: int | None = None


@sensitive_variables("authorization", "token", "presented", "credential", "stored")
def authenticate(
    *, authorization: str | None, audience: str, address: str | None
) -> Principal:
    """The caller that an Authorization header proves, asked of the database each time.

    Raises TokenRejected. Malformed, unknown and wrong tokens are told the same after
    the same work; the holder of the right secret learns from `details["reason"]` that
    it is token_revoked, token_suspended, token_expired or application_disabled.
    """
    token = read_authorization(authorization, audience=audience)
    if token is None:
        raise TokenRejected
    presented = digests_of(token.plaintext, peppers=peppers().by_id)
    credential = queries.find_credential(key_id=token.key_id, audience=audience)
    stored = _stored_digests(credential)
    if not matches_any(presented, stored=stored) or credential is None:
        raise TokenRejected
    reason = _reason_to_refuse(credential)
    if reason:
        raise TokenRejected(reason=reason)
    if credential.use_is_unrecorded:
        record_token_use(token_id=credential.token_id, address=address)
    return Principal(
        token_id=credential.token_id,
        key_id=token.key_id,
        name=credential.name,
        audience=audience,
        namespace_id=credential.namespace_id,
        application_id=credential.application_id,
        scopes=read_scopes(credential.scopes),
        queue_ids=credential.queue_ids,
        job_ids=credential.job_ids,
        job_groups=credential.job_groups,
        expires_at=credential.expires_at,
        reads_per_minute=credential.reads_per_minute,
        triggers_per_minute=credential.triggers_per_minute,
    )


def note_call(
    caller: Principal,
    *,
    request: HttpRequest,
    started_ns: int,
    status: int,
    result: str,
    is_replay: bool = False,
) -> None:
    """Put an answered call into its token's log; never waits and never fails.

    `started_ns` is what time.perf_counter_ns() said when the call came in. Of the
    request only the pattern of its path, its id and its job are kept.
    """
    match = request.resolver_match
    if match is None:
        return
    record_call(
        Call(
            token_id=caller.token_id,
            route=route_of(request.method or "", match.route),
            job_id=match.kwargs.get("job_id"),
            status=status,
            result=result,
            is_replay=is_replay,
            latency_ms=(time.perf_counter_ns() - started_ns) / 1_000_000,
            request_id=request_id_of(request),
            # The process' clock: asking the database's would cost a statement.
            created_at=datetime.fromtimestamp(time.time(), UTC),
        )
    )


def _stored_digests(
    credential: Credential | None,
) -> tuple[tuple[str | None, bytes | None], ...]:
    if credential is None:
        return _NOTHING_STORED
    return (
        (credential.pepper_id, credential.digest),
        (credential.previous_pepper_id, credential.previous_digest),
    )


def _reason_to_refuse(credential: Credential) -> str | None:
    if credential.status == "REVOKED":
        return "token_revoked"
    if credential.status != "ACTIVE":
        return "token_suspended"
    if credential.is_expired:
        return "token_expired"
    return None if credential.application_is_enabled else "application_disabled"
