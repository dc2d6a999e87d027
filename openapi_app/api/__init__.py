"""The open job API."""
