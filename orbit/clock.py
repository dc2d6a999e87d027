"""The one place that asks a clock, and the clock is the database's."""

from datetime import datetime

from django.db import connection


def now() -> datetime:
    """The database's clock at this moment, in UTC, with microseconds."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment
