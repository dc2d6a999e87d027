"""The rules of jobs and executions: plain Python, no Django, no clock."""
