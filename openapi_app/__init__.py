"""Jobs, executions and the open job API."""
