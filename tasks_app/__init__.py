"""The task engine and its recovery by people."""
