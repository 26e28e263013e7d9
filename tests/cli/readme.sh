#!/bin/sh
# SPDX-License-Identifier: MIT
# readme.sh SOURCE: the C example in README.md is tests/cli/example.c, byte for byte.
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1/README.md" | diff - "$1/tests/cli/example.c"
