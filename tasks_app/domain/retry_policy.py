"""How often and how soon an attempt may follow another."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """The frozen policy of one task; times in milliseconds."""

    max_attempts: int
    initial_delay_ms: int
    max_delay_ms: int
    attempt_timeout_ms: int

    def delay_ms(self, attempts_made: int) -> int:
        """The pause before the next attempt: doubled each time, up to the maximum."""
        if attempts_made < 1 or self.initial_delay_ms == 0:
            return 0
        doublings = min(attempts_made - 1, 32)
        return min(self.initial_delay_ms << doublings, self.max_delay_ms)
