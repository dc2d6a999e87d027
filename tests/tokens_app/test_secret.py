"""The format of tokens, read and written without a database."""

import hashlib
import hmac
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokens_app.domain.secret import (
    digest_of,
    matches_any,
    new_secret,
    new_token,
    read_authorization,
)

PREFIX = {"TASKS": "fta", "OPEN_JOBS": "fja"}
URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@pytest.mark.parametrize("audience", PREFIX)
def test_ten_thousand_generated_tokens_are_read_back(audience):
    key_ids = set()
    for _ in range(5_000):
        token = new_token(audience)
        assert re.fullmatch(
            rf"{PREFIX[audience]}_[A-Za-z0-9]{{16}}_[A-Za-z0-9_-]{{43}}",
            token.plaintext,
        )
        assert (
            read_authorization(f"Bearer {token.plaintext}", audience=audience) == token
        )
        key_ids.add(token.key_id)
    assert len(key_ids) == 5_000


@given(
    key_id=st.text("ABCXYZabcxyz0189", min_size=16, max_size=16),
    secret=st.text(URL_SAFE, min_size=43, max_size=43),
)
@settings(max_examples=500, deadline=None)
def test_every_secret_of_the_alphabet_is_read_by_its_length(key_id, secret):
    text = f"fta_{key_id}_{secret}"

    token = read_authorization(f"Bearer {text}", audience="TASKS")

    assert token is not None
    assert (token.key_id, token.plaintext) == (key_id, text)
    assert token.display_prefix == f"fta_{key_id}"


@given(
    st.text(max_size=100) | st.binary(max_size=100).map(lambda b: b.decode("latin-1"))
)
@settings(max_examples=500, deadline=None)
def test_no_other_text_is_a_token(text):
    assert read_authorization(text, audience="TASKS") is None
    assert read_authorization(f"Bearer {text}", audience="TASKS") is None


def test_a_token_of_one_audience_is_unreadable_to_the_other():
    token = new_token("TASKS")

    header = f"Bearer {token.plaintext}"

    assert read_authorization(header, audience="OPEN_JOBS") is None


def test_a_new_secret_keeps_the_key_id():
    token = new_token("OPEN_JOBS")

    successor = new_secret(audience="OPEN_JOBS", key_id=token.key_id)

    assert successor.key_id == token.key_id
    assert successor.plaintext != token.plaintext


def test_the_digest_is_the_hmac_sha256_of_the_whole_token():
    token = new_token("TASKS")
    pepper = b"p" * 32

    digest = digest_of(token.plaintext, pepper=pepper)

    assert digest == hmac.new(pepper, token.plaintext.encode(), hashlib.sha256).digest()


def test_neither_representation_of_a_token_shows_its_secret():
    token = new_token("TASKS")

    assert token.plaintext[21:] not in repr(token)


def test_a_stored_digest_matches_under_its_own_pepper_only():
    presented = {"p1": b"1" * 32, "p0": b"0" * 32}

    assert matches_any(presented, stored=[("p1", b"1" * 32), (None, None)])
    assert matches_any(presented, stored=[("p1", b"x" * 32), ("p0", b"0" * 32)])
    assert not matches_any(presented, stored=[("p0", b"1" * 32), (None, None)])
    assert not matches_any(presented, stored=[("retired", b"1" * 32)])
    assert not matches_any(presented, stored=[(None, None), (None, None)])
    assert not matches_any({"p1": bytes(32)}, stored=[("p1", None)])
