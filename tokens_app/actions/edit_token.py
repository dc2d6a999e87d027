"""Change what a token is called, reaches, or when it ends; its secret stays."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction

from orbit import clock
from tokens_app.domain.errors import TokenChanged, TokenNotActive
from tokens_app.domain.grant import (
    Actor,
    check_range,
    check_reason,
    require_range,
    settle_expiry,
)
from tokens_app.domain.range_catalogue import TokenRange
from tokens_app.domain.scope import read_scopes
from tokens_app.domain.token_edit import LIMITS, RANGES, TEXTS, TokenEdit, check_edit
from tokens_app.models import ServiceAccountToken, TokenAudit
from tokens_app.models.grants import cut_range


def edit_token(*, token_id: UUID, edit: TokenEdit, by: Actor) -> None:
    """The token is as `edit` says, from every process's next request on.

    What is added to the range is cut to what the acting user may grant. Raises
    TokenInvalid and RangeNotGrantable with the field, TokenChanged if the token was
    changed since the caller looked, TokenNotActive if it is revoked or expired.
    """
    check_edit(edit)
    if edit.reason:
        check_reason(edit.reason)
    with transaction.atomic(durable=True):
        token = ServiceAccountToken.objects.lock(token_id)
        now = clock.now()
        _require_editable(token, edit, now=now)
        before = _looks(token)
        _set_plain(token, edit)
        _set_expiry(token, edit, now=now)
        if edit.has_range:
            token.set_range(_wanted_range(token, edit, by=by))
        changes = _differences(before, _looks(token))
        if not changes and not edit.has_range:
            return
        token.updated_at = now
        token.updated_by = by.name
        token.save(
            update_fields=[
                *TEXTS,
                *ServiceAccountToken.RANGE,
                *LIMITS,
                "expires_at",
                "updated_at",
                "updated_by",
            ]
        )
        TokenAudit.objects.record(
            token=token,
            action="token.edit",
            by=by,
            reason=edit.reason,
            changes=changes,
        )


def _require_editable(
    token: ServiceAccountToken, edit: TokenEdit, *, now: datetime
) -> None:
    if token.status == "REVOKED" or token.expires_at <= now:
        raise TokenNotActive("A revoked or expired token stays so; issue another.")
    if edit.seen_updated_at not in (None, token.updated_at):
        raise TokenChanged(
            "Somebody changed this token since; look at it again, then repeat.",
            details={"updated_by": token.updated_by},
        )


def _set_plain(token: ServiceAccountToken, edit: TokenEdit) -> None:
    for name in TEXTS:
        text = getattr(edit, name)
        if text is not None:
            setattr(token, name, text.strip() if name == "name" else text)
    for name in LIMITS:
        limit = getattr(edit, name)
        if limit is not None:
            setattr(token, name, limit or None)


def _set_expiry(token: ServiceAccountToken, edit: TokenEdit, *, now: datetime) -> None:
    if edit.expires is not None:
        token.expires_at = settle_expiry(
            edit.expires, now=now, max_days=settings.TOKEN_MAX_LIFETIME_DAYS
        )


def _wanted_range(
    token: ServiceAccountToken, edit: TokenEdit, *, by: Actor
) -> TokenRange:
    """The range after the edit: what stays, and of what is new the grantable part."""
    present = token.range
    named = {name: getattr(edit, name) for name in RANGES}
    wanted = TokenRange(
        namespace_id=token.namespace_id,
        **{
            name: getattr(present, name) if part is None else part
            for name, part in named.items()
        },
    )
    check_range(wanted, audience=token.audience)
    require_range(wanted, audience=token.audience)
    added = wanted.without(present)
    granted = cut_range(
        added, audience=token.audience, scopes=read_scopes(token.scopes), by=by
    )
    return wanted.without(added.without(granted))


def _looks(token: ServiceAccountToken) -> dict[str, object]:
    shown: dict[str, object] = {
        name: getattr(token, name) for name in (*TEXTS, *RANGES, *LIMITS)
    }
    return {**shown, "expires_at": token.expires_at.isoformat()}


def _differences(
    before: Mapping[str, object], after: Mapping[str, object]
) -> dict[str, object]:
    return {
        name: {"from": before[name], "to": after[name]}
        for name in after
        if before[name] != after[name]
    }
