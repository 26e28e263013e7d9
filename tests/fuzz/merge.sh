#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# merge.sh TARGET CORPUS FOUND ARCHIVE: packs the smallest inputs of both folders that together reach every feature of the fuzz target.
# The archive does not depend on names, times or owners, so that it changes only when an input does.
set -euo pipefail
target=$1 corpus=$2 found=$3 archive=$4
merged=$(mktemp -d)
trap 'rm -rf "$merged"' EXIT
"$target" -merge=1 -max_len=8192 -timeout=20 -rss_limit_mb=2048 "$merged" "$corpus" "$found" >"$merged.log" 2>&1 ||
    { tail -n 20 "$merged.log" >&2; rm -f "$merged.log"; exit 1; }
rm -f "$merged.log"
tar -C "$merged" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -c . | xz -9e >"$archive.new"
if [ "$(stat -c %s "$archive.new")" -gt 300000 ]; then
    rm "$archive.new"
    echo "$archive: more than 300 kB; minimise the corpus first" >&2
    exit 1
fi
mv "$archive.new" "$archive"
