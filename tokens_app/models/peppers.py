"""The peppers in force, from the settings of this process."""

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from tokens_app.domain.pepper import PepperError, Peppers, read_peppers


def peppers() -> Peppers:
    """The live peppers; ImproperlyConfigured if there are none fit for use."""
    try:
        return read_peppers(
            text=settings.TOKEN_PEPPERS,
            path=settings.TOKEN_PEPPERS_FILE,
            forbidden=settings.SECRET_KEY,
        )
    except PepperError as error:
        raise ImproperlyConfigured(str(error)) from None
