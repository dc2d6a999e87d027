"""Tokens and their audit in the admin, to look at only."""

from django.contrib import admin
from django.http import HttpRequest

from tokens_app.models import ServiceAccountToken, TokenAudit


class LookOnly:
    """The admin shows these rows and never touches them; acts have their own pages."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(
        self,
        request: HttpRequest,  # noqa: ARG002
        obj: object = None,  # noqa: ARG002
    ) -> bool:
        return False

    def has_delete_permission(
        self,
        request: HttpRequest,  # noqa: ARG002
        obj: object = None,  # noqa: ARG002
    ) -> bool:
        return False


@admin.register(ServiceAccountToken)
class ServiceAccountTokenAdmin(LookOnly, admin.ModelAdmin):  # type: ignore[type-arg]
    """Tokens without their digests."""

    list_display = (
        "name",
        "display_prefix",
        "audience",
        "status",
        "scopes",
        "expires_at",
        "last_used_at",
        "owner_contact",
    )
    list_filter = ("audience", "status")
    search_fields = ("name", "display_prefix")
    exclude = ("digest", "pepper_id", "previous_digest", "previous_pepper_id")


@admin.register(TokenAudit)
class TokenAuditAdmin(LookOnly, admin.ModelAdmin):  # type: ignore[type-arg]
    """The append-only record."""

    list_display = ("created_at", "action", "key_id", "actor", "address", "reason")
    list_filter = ("action",)
    search_fields = ("key_id", "actor")
