"""The product's settings, and one more application: it has the no-op handler."""

from orbit.settings import *  # noqa: F403
from orbit.settings import INSTALLED_APPS as PRODUCT

INSTALLED_APPS = [*PRODUCT, "bench.orbit.noop"]
