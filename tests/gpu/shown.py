# SPDX-License-Identifier: MIT
"""Helpers of the tests that show PoCL as a GPU."""
import os
import shutil
import sys


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
