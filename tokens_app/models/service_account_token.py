"""A service account's token as it is kept: never its secret, only a keyed digest."""

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar
from uuid import UUID

from django.db import models
from django.db.models import F, Func, Q
from django.db.models.lookups import Exact

from orbit.ids import new_id
from tokens_app.domain.errors import TokenNotFound
from tokens_app.domain.range_catalogue import TokenRange
from tokens_app.models.grants import members_now

LIVE = Q(deleted_at__isnull=True)


def _json_array(name: str) -> Exact:
    kind = Func(
        F(name), function="jsonb_typeof", output_field=models.CharField(max_length=16)
    )
    return Exact(kind, "array")


def _octets(name: str, count: int) -> Exact:
    length = Func(F(name), function="octet_length", output_field=models.IntegerField())
    return Exact(length, count)


class TokenQuerySet(models.QuerySet["ServiceAccountToken"]):
    """Rows of service-account tokens."""

    def live(self) -> "TokenQuerySet":
        """Rows that are not deleted."""
        return self.filter(LIVE)

    def lock(self, token_id: UUID) -> "ServiceAccountToken":
        """The live row, locked until the transaction ends; TokenNotFound if none."""
        token = self.live().select_for_update().filter(id=token_id).first()
        if token is None:
            raise TokenNotFound("There is no such token; look it up in the list.")
        return token


class ServiceAccountToken(models.Model):
    """One caller's credential: what it may do, where, and until when.

    ACTIVE: it is accepted until `expires_at`. SUSPENDED: it is refused until somebody
    resumes it. REVOKED: it is refused for ever. Expired is no status: the database
    clock decides at each request. After a rotation the previous secret may live on
    until `previous_valid_until`. `members_at_grant` is what the range reached when a
    person last looked at it; null is unknown.
    """

    RANGE = ("queue_ids", "job_ids", "job_groups", "members_at_grant")
    PREVIOUS_SECRET = ("previous_digest", "previous_pepper_id", "previous_valid_until")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant_id = models.BigIntegerField(default=1)
    audience = models.CharField(max_length=16)
    namespace_id = models.UUIDField()
    application_id = models.UUIDField(null=True, blank=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, default="")
    owner_contact = models.CharField(max_length=254, blank=True, default="")

    key_id = models.CharField(max_length=16)
    display_prefix = models.CharField(max_length=24)
    digest = models.BinaryField()
    pepper_id = models.CharField(max_length=32)
    previous_digest = models.BinaryField(null=True)
    previous_pepper_id = models.CharField(max_length=32, null=True)  # noqa: DJ001 - absent with its digest
    previous_valid_until = models.DateTimeField(null=True)
    rotation_count = models.IntegerField(default=0)
    rotated_at = models.DateTimeField(null=True)

    scopes = models.CharField(max_length=512)
    queue_ids = models.JSONField(default=list)
    job_ids = models.JSONField(default=list)
    job_groups = models.JSONField(default=list)
    members_at_grant = models.JSONField(null=True)
    reads_per_minute = models.IntegerField(null=True)
    triggers_per_minute = models.IntegerField(null=True)

    status = models.CharField(max_length=16, default="ACTIVE")
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    last_used_address = models.GenericIPAddressField(null=True)
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.CharField(max_length=150, blank=True, default="")
    revoked_reason = models.TextField(blank=True, default="")

    form_key = models.UUIDField(null=True, editable=False)
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    updated_by = models.CharField(max_length=150)
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    objects: ClassVar[TokenQuerySet] = TokenQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name = "service-account token"
        ordering = ["-created_at", "-id"]
        default_permissions = ("view",)
        permissions = [
            ("issue_token", "Can issue service-account tokens"),
            ("edit_token", "Can edit service-account tokens"),
            ("rotate_token", "Can rotate service-account tokens"),
            ("suspend_token", "Can suspend and resume service-account tokens"),
            ("revoke_token", "Can revoke service-account tokens"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["key_id"], condition=LIVE, name="tokens_one_live_key_id"
            ),
            models.UniqueConstraint(
                fields=["digest"], condition=LIVE, name="tokens_one_live_digest"
            ),
            # A form that is sent twice issues one token.
            models.UniqueConstraint(fields=["form_key"], name="tokens_one_form_key"),
            models.CheckConstraint(
                condition=Q(audience__in=["TASKS", "OPEN_JOBS"]),
                name="tokens_audience_is_known",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["ACTIVE", "SUSPENDED", "REVOKED"]),
                name="tokens_status_is_known",
            ),
            models.CheckConstraint(
                condition=Q(key_id__regex=r"^[A-Za-z0-9]{16}$"),
                name="tokens_key_id_is_well_formed",
            ),
            models.CheckConstraint(
                condition=Q(scopes__regex=r"^[a-z:]+( [a-z:]+)*$"),
                name="tokens_scopes_are_space_separated",
            ),
            models.CheckConstraint(
                condition=_octets("digest", 32), name="tokens_digest_is_sha256"
            ),
            models.CheckConstraint(
                condition=Q(
                    previous_digest__isnull=True,
                    previous_pepper_id__isnull=True,
                    previous_valid_until__isnull=True,
                )
                | Q(
                    _octets("previous_digest", 32),
                    previous_digest__isnull=False,
                    previous_pepper_id__isnull=False,
                    previous_valid_until__isnull=False,
                ),
                name="tokens_previous_secret_is_whole",
            ),
            models.CheckConstraint(
                condition=Q(rotation_count=0, rotated_at__isnull=True)
                | Q(rotation_count__gt=0, rotated_at__isnull=False),
                name="tokens_rotation_has_its_time",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("issued_at")),
                name="tokens_expire_after_issue",
            ),
            models.CheckConstraint(
                condition=Q(
                    status="REVOKED",
                    revoked_at__isnull=False,
                    previous_digest__isnull=True,
                )
                | (~Q(status="REVOKED") & Q(revoked_at__isnull=True)),
                name="tokens_revoked_has_its_time",
            ),
            models.CheckConstraint(
                condition=Q(
                    _json_array("queue_ids"),
                    _json_array("job_ids"),
                    _json_array("job_groups"),
                ),
                name="tokens_ranges_are_arrays",
            ),
            models.CheckConstraint(
                condition=Q(audience="TASKS", job_ids=[], job_groups=[])
                | Q(audience="OPEN_JOBS", queue_ids=[]),
                name="tokens_range_fits_audience",
            ),
            models.CheckConstraint(
                condition=(Q(reads_per_minute__isnull=True) | Q(reads_per_minute__gt=0))
                & (Q(triggers_per_minute__isnull=True) | Q(triggers_per_minute__gt=0)),
                name="tokens_limits_are_positive",
            ),
        ]
        indexes = [
            # The workbench's list, newest first.
            models.Index(
                fields=["tenant_id", "-created_at", "-id"],
                condition=LIVE,
                name="tokens_list",
            ),
            # Tokens that soon expire, and their notices.
            models.Index(
                fields=["expires_at"],
                condition=Q(deleted_at__isnull=True, status="ACTIVE"),
                name="tokens_expiring",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.display_prefix})"

    @property
    def range(self) -> TokenRange:
        """What it was granted."""
        return TokenRange(
            namespace_id=self.namespace_id,
            queue_ids=tuple(UUID(it) for it in self.queue_ids),
            job_ids=tuple(UUID(it) for it in self.job_ids),
            job_groups=tuple(self.job_groups),
        )

    def set_range(self, granted: TokenRange) -> None:
        """Grant this, as it is reached at this moment; unsaved."""
        self.queue_ids = _distinct([it.hex for it in granted.queue_ids])
        self.job_ids = _distinct([it.hex for it in granted.job_ids])
        self.job_groups = _distinct(granted.job_groups)
        self.members_at_grant = members_now(granted, audience=self.audience)

    def status_at(self, moment: datetime) -> str:
        """The status, or EXPIRED for one that would be accepted but for its age."""
        expired = self.status == "ACTIVE" and self.expires_at <= moment
        return "EXPIRED" if expired else self.status

    def keep_previous_secret(self, *, until: datetime) -> None:
        """Let the present secret live on beside its successor; unsaved."""
        self.previous_digest = self.digest
        self.previous_pepper_id = self.pepper_id
        self.previous_valid_until = until

    def drop_previous_secret(self) -> None:
        """Forget the secret before the present one; unsaved."""
        self.previous_digest = None
        self.previous_pepper_id = None
        self.previous_valid_until = None


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
