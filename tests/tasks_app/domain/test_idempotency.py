"""Keys of idempotent writes; only their digests are kept."""

import hashlib

import pytest

from tasks_app.domain.errors import InvalidField
from tasks_app.domain.idempotency import identify


@pytest.mark.parametrize("key", ["a", "A-z_0.9:x", "k" * 128])
def test_an_identity_is_two_digests(key):
    identity = identify(key=key, content=b"{}")

    assert identity.key_digest == hashlib.sha256(key.encode()).digest()
    assert identity.content_digest == hashlib.sha256(b"{}").digest()


@pytest.mark.parametrize(
    "key", ["", "k" * 129, " a", "a ", "a b", "a\n", "a/b", "a\0", "é", "键", "\u0661"]
)
def test_a_key_of_other_characters_or_length_is_refused(key):
    with pytest.raises(InvalidField) as refused:
        identify(key=key, content=b"{}")

    assert refused.value.field == "Idempotency-Key"
