"""What pages say in the visitor's language, whatever they are about."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext

from orbit.errors import Refusal

Word = str | Promise

WithValues = Sequence[tuple[str, str]]


def refusal_in_words(refusal: Refusal, with_values: WithValues = ()) -> str:
    """The refusal's message in the visitor's language; English if it has no other.

    `with_values` are messages that contain values: a pattern with named groups, and
    how it is told with these names.
    """
    return in_words(refusal.message, with_values)


def in_words(message: str, with_values: WithValues = ()) -> str:
    """A message that the program wrote in English, in the visitor's language."""
    for pattern, told in with_values:
        if found := re.fullmatch(pattern, message, re.DOTALL):
            return gettext(told) % found.groupdict()
    return gettext(message)


def remaining(moment: datetime, *, now: datetime) -> str:
    """How far ahead or back the moment is, in the largest whole unit."""
    distance = abs(moment - now)
    if distance < timedelta(minutes=1):
        return gettext("now")
    if moment > now:
        return gettext("in %(amount)s") % {"amount": amount(distance)}
    return gettext("%(amount)s ago") % {"amount": amount(distance)}


def amount(distance: timedelta) -> str:
    """How long that is, in the largest whole unit from minutes up."""
    hours, days = int(distance.total_seconds() // 3600), distance.days
    if days >= 2:  # noqa: PLR2004 - below, hours say more
        return ngettext("%(count)d day", "%(count)d days", days) % {"count": days}
    if hours >= 1:
        return ngettext("%(count)d hour", "%(count)d hours", hours) % {"count": hours}
    minutes = int(distance.total_seconds() // 60)
    if not minutes:
        return gettext("less than a minute")
    return ngettext("%(count)d minute", "%(count)d minutes", minutes) % {
        "count": minutes
    }
