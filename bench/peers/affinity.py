# SPDX-License-Identifier: MIT
"""The same processors for both sides of a comparison."""
import os
import sys


def take(count):
    """Keeps this process, its peers' threads and the programs that it starts to `count` processors. Returns the environment for such \
programs: PoCL, before version 5 and since, counts the machine's processors otherwise; other drivers count those that they may use."""
    allowed = sorted(os.sched_getaffinity(0))
    if count < 1 or count > len(allowed):
        sys.exit(f"--threads {count}: expected 1 to {len(allowed)}, the processors that this process may use")
    os.sched_setaffinity(0, allowed[:count])
    return {**os.environ, "OMP_NUM_THREADS": str(count), "POCL_MAX_PTHREAD_COUNT": str(count), "POCL_CPU_MAX_CU_COUNT": str(count)}
