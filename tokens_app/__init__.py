"""Service accounts: tokens, who holds them, and what they may do."""
