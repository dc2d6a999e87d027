"""The ground of Orbit: what every app leans on; it imports no app."""
