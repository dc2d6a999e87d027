"""Work through batches of reviews: a maintenance pass, one review after another."""

from uuid import UUID

from tasks_app.actions.advance_review_batch import advance_review_batch
from tasks_app.actions.review_batch_item import review_batch_item
from tasks_app.models.statements.batch import RUNNING
from tasks_app.models.statements.run import rows

BATCHES = 20


def run_review_batches(*, limit: int) -> int:
    """Review up to `limit` items of the batches that run, shared out among them.

    Any number of runners may do so at once. Killed anywhere, the next one goes on.
    """
    running = [batch_id for (batch_id,) in rows(RUNNING, {"limit": BATCHES})]
    done = 0
    for number, batch_id in enumerate(running):
        # What one batch leaves of its part, those behind it may use.
        part = -(-(limit - done) // (len(running) - number))
        done += _run(batch_id, limit=part)
    return done


def _run(batch_id: UUID, *, limit: int) -> int:
    done = 0
    held_up: list[int] = []
    while done + len(held_up) < limit:
        dealt = review_batch_item(batch_id=batch_id, held_up=held_up)
        if dealt is None:
            advance_review_batch(batch_id=batch_id)
            break
        if dealt.is_finished:
            done += 1
        else:
            held_up.append(dealt.position)
    return done
