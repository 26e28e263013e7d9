#!/bin/sh
# SPDX-License-Identifier: MIT
# readme.sh SOURCE: README.md's example is lines of tests/cli/example.c in their order, and nothing else. include/README.md has the programs
# example.c and example_chat.c whole, and lines of example.py.
# Every file that README.md and its sisters link to exists.
status=0

# The lines of README's block of a language without leading white space.
block() { awk -v fence="^\`\`\`$1\$" '$0 ~ fence { inside = 1; next } /^```$/ { inside = 0 } inside' "$2" | sed 's/^ *//'; }

# Fails unless standard input is a subsequence of the file's lines.
inside() {
    sed 's/^ *//' "$1" | awk -v file="$1" '
        NR == FNR { wanted[NR] = $0; count = NR; next } FNR == 1 { at = 1 } at <= count && $0 == wanted[at] { at++ }
        END { if (count == 0) { print "no example for " file; exit 1 }
              if (at <= count) { print "not in " file ": " wanted[at]; exit 1 } }' "$2" -
}

wanted=$(mktemp)
for language in c python; do
    case $language in c) file=$1/tests/cli/example.c page=README.md ;; *) file=$1/tests/cli/example.py page=include/README.md ;; esac
    block $language "$1/$page" >"$wanted"
    inside "$file" "$wanted" || status=1
done
block c "$1/include/README.md" >"$wanted"
sed 's/^ *//' "$1/tests/cli/example.c" "$1/tests/cli/example_chat.c" | diff - "$wanted" ||
    { echo "include/README.md has other programs than tests/cli"; status=1; }
rm -f "$wanted"

for page in README.md host/README.md bench/README.md include/README.md; do
    for link in $(grep -oE '\]\([^)#:]+\)' "$1/$page" | tr -d '])('); do
        [ -e "$1/$(dirname "$page")/$link" ] || { echo "$page links to $link, which is not there"; status=1; }
    done
done
exit $status
