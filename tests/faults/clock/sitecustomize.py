"""Lets every clock of a Python process be wrong by ORBIT_TEST_CLOCK_SKEW seconds."""

import datetime
import os

import time_machine

skew = datetime.timedelta(seconds=int(os.environ["ORBIT_TEST_CLOCK_SKEW"]))
wrong = datetime.datetime.now(datetime.UTC) + skew  # noqa: TID251
time_machine.travel(wrong, tick=True).start()
