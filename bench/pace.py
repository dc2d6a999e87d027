"""An open loop: acts at an even rate, whatever each of them takes."""

import time
from collections.abc import Callable


def pace(act: Callable[[], object], *, rate: float, seconds: float) -> None:
    """Call `act` `rate` times a second for so long; what is late is not left out."""
    started = time.monotonic()
    for number in range(int(rate * seconds)):
        time.sleep(max(0.0, started + number / rate - time.monotonic()))
        act()
