"""Result events: the outbox that subscribers read."""
