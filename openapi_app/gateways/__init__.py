"""The ways out: Redis and the broker."""
