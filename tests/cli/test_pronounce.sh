#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pronounce: words from arguments, files and standard input, beams, refusals. usage: test_pronounce.sh PROGRAM DATA
set -u
. "$(dirname "$0")/common.sh"
root=$(cd "$data/../.." && pwd)

run pronounce hello
skip_without_device
expect_status 0 "one word"
[ "$(cut -f1 "$work/out")" = hello ] || fail "one word: $(cat "$work/out")"
cut -f2 "$work/out" | grep -qE '^HH [A-Z0-2 ]+$' || fail "hello does not begin with HH: $(cat "$work/out")"
grep -qP '^hello\t[A-Z0-2 ]+$' "$work/out" || fail "more than two columns: $(cat "$work/out")"

# Arguments, a file and standard input agree, in order.
words="zebra a it's hello counterintelligence Hello be"
# shellcheck disable=SC2086
run pronounce $words
expect_status 0 "arguments"
[ "$(cut -f1 "$work/out" | tr '\n' ' ')" = "$words " ] || fail "order of arguments: $(cut -f1 "$work/out" | tr '\n' ' ')"
cp "$work/out" "$work/want"
printf '%s\n' $words >"$work/words.txt"
run pronounce --file "$work/words.txt"
cmp -s "$work/out" "$work/want" || fail "--file differs from arguments"
"$program" pronounce - <"$work/words.txt" >"$work/out" 2>"$work/err" || fail "standard input"
cmp -s "$work/out" "$work/want" || fail "standard input differs from arguments"
run pronounce --file "$work/words.txt" --batch-words 2
cmp -s "$work/out" "$work/want" || fail "--batch-words 2 differs"

# A word that is none: named, the others come out, status 1.
printf 'zebra\nnaïve\n\n  be  \nx2\nit'"'"'s\n' >"$work/mixed.txt"
run pronounce --file "$work/mixed.txt"
expect_status 1 "mixed file"
expect_error 'x2' "mixed file"
expect_error 'na' "mixed file"
[ "$(cut -f1 "$work/out" | tr '\n' ' ')" = "zebra be it's " ] || fail "mixed file: $(cat "$work/out")"
run pronounce 'two words'
expect_status 1 "two words"
expect_error '"two words"' "two words"
expect_lines 0 "two words"

# Beams print scores, best first; the beam's best is no worse than the greedy result.
run pronounce --beam 4 --n-best 3 hello be
expect_status 0 "beam"
expect_lines 6 "beam"
awk -F '\t' '$1 != last { last = $1; score = 1 } $3 !~ /^-?[0-9.]+$/ || $3 > score { bad = 1 } { score = $3 }
               END { exit bad }' "$work/out" ||
    fail "scores are not falling: $(cat "$work/out")"
best=$(awk -F '\t' 'NR == 1 { print $3 }' "$work/out")
run pronounce --beam 1 hello
awk -F '\t' -v best="$best" '{ exit !(best >= $3 - 0.001) }' "$work/out" ||
    fail "the beam's best, $best, is worse than greedy: $(cat "$work/out")"
run pronounce --n-best 2 hello
expect_lines 2 "n-best alone"

# The same model from its directory; other directories and options are refused.
run pronounce hello
cp "$work/out" "$work/want"
run pronounce --model "$root/host/model/g2p" hello
expect_status 0 "--model"
cmp -s "$work/out" "$work/want" || fail "--model differs from the built-in model"
mkdir "$work/spoiled"
cp "$root/host/model/g2p/config.json" "$work/spoiled"
{ head -c -40000 "$root/host/model/g2p/model.safetensors"; head -c 40000 /dev/zero | tr '\0' '\177'; } >"$work/spoiled/model.safetensors"
for beam in 1 4; do # the embeddings lie at the end: NaN, as f16
    run pronounce --model "$work/spoiled" --beam "$beam" hello
    expect_status 1 "weights that are no numbers"
    expect_error 'expected a finite number' "weights that are no numbers"
    expect_lines 0 "weights that are no numbers"
done
run pronounce --model "$work/none" hello
expect_status 1 "missing model"
expect_error "$work/none" "missing model"
run pronounce --beam 2 --n-best 3 hello
expect_status 2 "n-best above beam"
run pronounce --beam 65 hello
expect_status 2 "beam 65"
run pronounce --layer 1 hello
expect_status 2 "--layer alone"
expect_error "--layer needs --attention" "--layer alone"
run pronounce --layer -5 --attention "$work/never.svg" hello
expect_status 2 "--layer -5"
expect_error "--layer: expected 0 or more, found -5" "--layer -5"
expect_lines 0 "--layer -5"
[ ! -e "$work/never.svg" ] || fail "--layer -5 left a file"
run pronounce
expect_status 2 "no words"
run pronounce --file "$work/none.txt"
expect_status 1 "missing file"
run pronounce --stats hello
expect_error "words/s" "stats"
finish
