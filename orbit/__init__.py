"""The ground of Orbit: what every app leans on; it imports no app."""

import gc

# Nothing of what a start imports is garbage: to look for it takes a quarter of it.
gc.set_threshold(50_000, 20, 20)
