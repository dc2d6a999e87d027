"""Asking what became of a write, without making it again."""

from enum import StrEnum
from typing import Literal

import msgspec

from tasks_app.domain.commands import Command, Digest, Hex32


class Verdict(StrEnum):
    """What is known of a key.

    COMMITTED: the write was made once and its receipt is kept. NEVER_SEEN: no write
    of this caller with this key is committed; one under way may still be. DIFFERENT:
    the key made a write with other content.
    """

    COMMITTED = "COMMITTED"
    NEVER_SEEN = "NEVER_SEEN"
    DIFFERENT = "DIFFERENT"


class LookUpReceipt(Command, frozen=True, kw_only=True):
    """Which write is meant (POST /v1/receipts:look-up); its key is in the header.

    `target_id` is the queue of a submit and else the task in the path. With
    `content_digest`, the SHA-256 of the body's canonical JSON, contents are compared.
    """

    operation: Literal["task.submit", "task.cancel", "task.review", "task.retry"]
    target_id: Hex32
    content_digest: Digest | msgspec.UnsetType = msgspec.UNSET
