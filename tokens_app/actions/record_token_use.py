"""Note that a token was used, at most once a minute and at nobody's expense."""

from uuid import UUID

from django.db import connection, transaction

from tokens_app.domain.address import read_address

# A row that somebody holds is skipped: the note is worth no waiting.
_RECORD = """
    UPDATE tokens_app_serviceaccounttoken
       SET last_used_at = statement_timestamp(), last_used_address = %s
     WHERE id = (
        SELECT id FROM tokens_app_serviceaccounttoken
         WHERE id = %s
           AND (last_used_at IS NULL
                OR last_used_at < statement_timestamp() - interval '60 seconds')
           FOR UPDATE SKIP LOCKED)
"""


def record_token_use(*, token_id: UUID, address: str | None) -> None:
    """Write the time and the caller's address, outside the caller's transaction.

    Inside one, the note follows its commit. A failure is logged and goes no further.
    """

    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute(_RECORD, [read_address(address), token_id])

    transaction.on_commit(write, robust=True)
