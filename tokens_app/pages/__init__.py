"""The workbench in the browser: tokens for people, one page for each thing to do."""
