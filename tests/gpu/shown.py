#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Helpers of the tests that show PoCL as a GPU. As a program it runs test programs there.
usage: shown.py SHIM DEVICE PROGRAM ..."""
import os
import shutil
import subprocess
import sys
import tempfile


def pocl_alone(work):
    """A folder of drivers below `work` that holds PoCL's alone. Exit status 77 where PoCL is not installed."""
    vendors = os.path.join(work, "vendors")
    os.mkdir(vendors)
    system = os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")
    found = [name for name in (os.listdir(system) if os.path.isdir(system) else []) if name.startswith("pocl")]
    if not found:
        print("skipped: PoCL is not installed")
        sys.exit(77)
    shutil.copy(os.path.join(system, found[0]), vendors)
    return vendors


def main():
    shim, device, *programs = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        environment = dict(os.environ, CLF_TEST_GPU=device, LD_PRELOAD=shim, OCL_ICD_VENDORS=pocl_alone(work), CLF_NO_TUNED="1",
                           CLF_TEST_SMALL="1")
        environment.pop("CLF_DEVICE", None)
        sys.exit(max(subprocess.run([program], env=environment, check=False).returncode != 0 for program in programs))


if __name__ == "__main__":
    main()
