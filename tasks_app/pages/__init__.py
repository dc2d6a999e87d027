"""The recovery console: what needs a person, and all they need to decide."""
