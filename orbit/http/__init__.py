"""How Orbit speaks HTTP: exact JSON, envelopes, problems, pages, probes."""
