# SPDX-License-Identifier: MIT
"""The two sides of a comparison, ours and a peer's: their processors, their turns, and a bench program that measures when it is asked."""
import json
import os
import subprocess
import sys
import time


def take_processors(count):
    """Limits this process, the threads of its peers and the programs that it starts to `count` processors. Returns the environment for \
such programs. It sets the number of threads for PoCL (before version 5, and since), which otherwise counts the machine's processors. \
Other drivers count those that they may use."""
    allowed = sorted(os.sched_getaffinity(0))
    if count < 1 or count > len(allowed):
        sys.exit(f"--threads {count}: expected 1 to {len(allowed)}, the processors that this process may use")
    os.sched_setaffinity(0, allowed[:count])
    return {**os.environ, "OMP_NUM_THREADS": str(count), "POCL_MAX_PTHREAD_COUNT": str(count), "POCL_CPU_MAX_CU_COUNT": str(count)}


class Ours:
    """A running bench program with --turns, which verifies its results once. It measures on request (turn), and waits meanwhile. `first`:
    its first measurement."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.first = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{' '.join(self.process.args)}: exit status {self.process.wait()}")
        return json.loads(line)

    def turn(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.read()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.process.wait()


def alternate(rounds, ours, peer):
    """Runs both sides in each round, in alternating order; returns [(ours, peer)]."""
    results = []
    for index in range(rounds):
        if index % 2:
            theirs, mine = peer(), ours()
        else:
            mine, theirs = ours(), peer()
        results.append((mine, theirs))
        time.sleep(0.1)  # threads of both sides stop spinning
    return results
