#!/bin/sh
# SPDX-License-Identifier: MIT
# one_driver.sh COMMAND...: a test of commands that use one device, with that device's driver alone where tests/run.sh names it. A command
# loads every driver that it sees when it starts, and such tests start hundreds.
if [ -n "${CLF_TEST_ONE_DRIVER:-}" ]; then
    export OCL_ICD_VENDORS="$CLF_TEST_ONE_DRIVER" CLF_DEVICE="${CLF_TEST_ONE_DEVICE:-0}"
fi
exec "$@"
