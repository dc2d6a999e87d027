"""The last calls of each token, and how many there were on each day."""

from collections.abc import Sequence
from typing import ClassVar

from django.db import connection, models

from orbit.transactions import require_transaction
from tokens_app.domain.call import CALLS_KEPT, DAYS_KEPT, Call

# Two processes that count and trim the same rows would deadlock.
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('tokens.calls', 0))"
_COUNT = """
INSERT INTO tokens_app_tokenusageday AS u (token_id, day, calls, refused)
SELECT c.token_id, c.day, count(*), count(*) FILTER (WHERE c.status >= 400)
  FROM unnest(%s::uuid[], %s::date[], %s::int[]) AS c (token_id, day, status)
 GROUP BY c.token_id, c.day ORDER BY c.token_id, c.day
ON CONFLICT (token_id, day) DO UPDATE
   SET calls = u.calls + excluded.calls, refused = u.refused + excluded.refused
"""
_TRIM_CALLS = """
DELETE FROM tokens_app_tokencall c
 USING unnest(%s::uuid[]) AS t (id)
 WHERE c.token_id = t.id AND c.id < (
    SELECT k.id FROM tokens_app_tokencall k
     WHERE k.token_id = t.id ORDER BY k.id DESC OFFSET %s LIMIT 1)
"""
_TRIM_DAYS = """
DELETE FROM tokens_app_tokenusageday u
 USING unnest(%s::uuid[]) AS t (id)
 WHERE u.token_id = t.id AND u.day < current_date - %s
"""


class TokenCallManager(models.Manager["TokenCall"]):
    """The one writer of the log."""

    def write(self, calls: Sequence[Call]) -> None:
        """Add the calls and their counts, and drop what is too old."""
        require_transaction()
        tokens = sorted({call.token_id for call in calls})
        with connection.cursor() as cursor:
            cursor.execute(_ONE_AT_A_TIME)
        self.bulk_create(
            [
                self.model(
                    token_id=call.token_id,
                    route=call.route[:200],
                    job_id=call.job_id,
                    status=call.status,
                    result=call.result[:64],
                    is_replay=call.is_replay,
                    latency_ms=call.latency_ms,
                    request_id=call.request_id,
                    created_at=call.created_at,
                )
                for call in calls
            ]
        )
        with connection.cursor() as cursor:
            cursor.execute(
                _COUNT,
                [
                    [call.token_id for call in calls],
                    [call.created_at.date() for call in calls],
                    [call.status for call in calls],
                ],
            )
            cursor.execute(_TRIM_CALLS, [tokens, CALLS_KEPT - 1])
            cursor.execute(_TRIM_DAYS, [tokens, DAYS_KEPT])


class TokenCall(models.Model):
    """One call: which route with which result. No body, no header, no query."""

    token_id = models.UUIDField()
    route = models.CharField(max_length=200)
    job_id = models.UUIDField(null=True)
    status = models.SmallIntegerField()
    result = models.CharField(max_length=64)
    is_replay = models.BooleanField(default=False)
    latency_ms = models.FloatField()
    request_id = models.CharField(max_length=32)
    created_at = models.DateTimeField()

    objects: ClassVar[TokenCallManager] = TokenCallManager()

    class Meta:
        verbose_name = "call of a token"
        verbose_name_plural = "calls of tokens"
        default_permissions = ("view",)
        # The newest calls of one token, and the end of those that are kept.
        indexes = [models.Index(fields=["token_id", "-id"], name="token_calls_newest")]

    def __str__(self) -> str:
        return f"{self.route} {self.status}"


class TokenUsageDay(models.Model):
    """How often one token called on one day (UTC), and how often it was refused."""

    token_id = models.UUIDField()
    day = models.DateField()
    calls = models.BigIntegerField()
    refused = models.BigIntegerField()

    class Meta:
        verbose_name = "day of a token"
        verbose_name_plural = "days of tokens"
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                fields=["token_id", "day"], name="token_usage_one_row_a_day"
            )
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.calls}"
