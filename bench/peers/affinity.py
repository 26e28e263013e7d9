# SPDX-License-Identifier: MIT
"""Limits both sides of a comparison to the same processors."""
import os
import sys


def take(count):
    """Limits this process, the threads of its peers and the programs that it starts to `count` processors. Returns the environment for \
such programs. It sets the number of threads for PoCL (before version 5, and since), which otherwise counts the machine's processors. \
Other drivers count those that they may use."""
    allowed = sorted(os.sched_getaffinity(0))
    if count < 1 or count > len(allowed):
        sys.exit(f"--threads {count}: expected 1 to {len(allowed)}, the processors that this process may use")
    os.sched_setaffinity(0, allowed[:count])
    return {**os.environ, "OMP_NUM_THREADS": str(count), "POCL_MAX_PTHREAD_COUNT": str(count), "POCL_CPU_MAX_CU_COUNT": str(count)}
