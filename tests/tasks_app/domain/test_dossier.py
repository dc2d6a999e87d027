"""The digest of what a decision rests on, in the form that is documented."""

import hashlib
from dataclasses import replace
from uuid import UUID

import pytest

from tasks_app.domain.dossier import MAX_STEPS_BACK, AttemptGround, Grounds

GROUNDS = Grounds(
    task_id=UUID(int=1),
    revision=3,
    state="NEEDS_REVIEW",
    owner_kind="STANDALONE",
    owner_id=None,
    does_owner_agree=True,
    attempts=(AttemptGround(id=UUID(int=2), lease_seq=1, outcome="UNKNOWN"),),
    evidence=(UUID(int=3), UUID(int=4)),
    contradictions=(UUID(int=5),),
)


def test_it_is_the_sha_256_of_this_very_text():
    task, attempt, one, two, contradiction = (f"{n:032x}" for n in (1, 2, 3, 4, 5))
    text = (
        f'{{"attempts":[{{"id":"{attempt}","lease_seq":"1","outcome":"UNKNOWN"}}],'
        f'"contradictions":["{contradiction}"],"evidence":["{one}","{two}"],'
        '"owner":{"agrees":true,"id":null,"kind":"STANDALONE"},'
        f'"revision":"3","state":"NEEDS_REVIEW","task_id":"{task}"}}'
    )

    assert GROUNDS.digest == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "changes",
    [
        {"task_id": UUID(int=9)},
        {"revision": 4},
        {"state": "FAILED"},
        {"owner_kind": "SCHEDULE"},
        {"owner_id": UUID(int=9)},
        {"does_owner_agree": False},
        {"attempts": ()},
        {"attempts": (replace(GROUNDS.attempts[0], outcome="FAILED"),)},
        {"attempts": (replace(GROUNDS.attempts[0], lease_seq=2),)},
        {"evidence": GROUNDS.evidence[::-1]},
        {"evidence": GROUNDS.evidence[:1]},
        {"contradictions": ()},
    ],
)
def test_whatever_a_decision_rests_on_changes_it(changes):
    assert replace(GROUNDS, **changes).digest != GROUNDS.digest


@pytest.mark.parametrize("kept", [0, 1])
def test_what_came_since_an_older_dossier_is_known_by_its_digest(kept):
    older = replace(GROUNDS, evidence=GROUNDS.evidence[:kept])

    assert GROUNDS.evidence_since(older.digest) == GROUNDS.evidence[kept:]


def test_a_dossier_of_another_revision_says_nothing_of_what_is_new():
    other = replace(GROUNDS, revision=2, evidence=())

    assert GROUNDS.evidence_since(other.digest) is None
    assert GROUNDS.evidence_since("0" * 64) is None
    assert GROUNDS.evidence_since(GROUNDS.digest) is None


def test_it_is_looked_for_among_the_latest_only():
    ids = tuple(UUID(int=n) for n in range(MAX_STEPS_BACK + 2))
    whole = replace(GROUNDS, evidence=ids)

    near = replace(GROUNDS, evidence=ids[: len(ids) - MAX_STEPS_BACK])
    far = replace(GROUNDS, evidence=ids[: len(ids) - MAX_STEPS_BACK - 1])

    assert whole.evidence_since(near.digest) == ids[len(near.evidence) :]
    assert whole.evidence_since(far.digest) is None
