#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/background.py ends with status 1 where --background leaves less to another program, by rates that are given here: nothing is
measured. usage: test_background.py BENCH"""
import math
import sys

sys.path.insert(0, sys.argv[1])
import background  # noqa: E402

failures = 0


def expect(is_right, plain, beside, tolerance=0.05):
    global failures
    found = background.judge(plain, beside, tolerance)
    if (found == "") != is_right or (found and "nothing" not in found and "GB/s" not in found):
        failures += 1
        print(f"FAIL: {plain} and {beside} with --background, tolerance {tolerance}: {found!r}")


expect(True, [8.0, 7.6, 8.1], [13.0, 11.9, 13.0])
expect(True, [8.0], [8.0])
expect(True, [8.0, 8.0, 8.0], [7.7, 7.7, 1.0])  # within the tolerance, by the median
expect(False, [8.0, 8.0, 8.0], [7.5, 7.5, 20.0])
expect(True, [8.0], [7.5], 0.1)
expect(False, [8.0], [7.9], 0)
expect(False, [8.0], [math.nan])
expect(False, [math.nan], [8.0])
expect(False, [8.0], [])
expect(False, [], [8.0])

# The program itself: rates come from a stand-in, and an end without a measurement is one too.
class Rates:
    """Rates of the copy alone, beside embed, and beside embed --background."""

    def __init__(self, plain, beside):
        self.rates = {False: plain, True: beside}

    def beside(self, command, folder, seconds):
        return self.rates["--background" in command], 100.0


def status(plain, beside):
    stand_in = Rates(plain, beside)
    background.copy_rate, background.beside = lambda seconds: 15.0, stand_in.beside
    sys.argv = ["background.py", "/bin/true", "model", "--rounds", "3"]
    try:
        background.main()
    except SystemExit as end:
        return end.code
    return None


if status(8.0, 13.0) != 0 or "7.00 GB/s" not in str(status(8.0, 7.0)):
    failures += 1
    print(f"FAIL: status {status(8.0, 13.0)!r} and {status(8.0, 7.0)!r}")
print("all passed" if failures == 0 else f"{failures} failures")
sys.exit(failures != 0)
