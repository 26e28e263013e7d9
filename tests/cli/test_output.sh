#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests outputs: links, modes, pipes, devices, standard output and closed streams, and what is refused before the work. usage:
# test_output.sh PROGRAM DATA
set -u
. "$(dirname "$0")/common.sh"

encode() { run op positional_encoding --length 3 --dim 4 "$@"; }
encode -o "$work/want.npy"
skip_without_device
expect_status 0 "op -o"
want=$work/want.npy

# Messages of a driver's compiler about its kernels do not reach the user.
mkdir "$work/programs"
CLF_CACHE_DIR='' POCL_CACHE_DIR=$work/programs run op softmax "$want" -o /dev/null
expect_status 0 "op softmax without kept programs"
grep -v '^clformer: device ' "$work/err" && fail "building kernels is told on standard error"

# Links are followed to the file that they name, which keeps its mode.
mkdir "$work/d"
ln -s d/file.npy "$work/link.npy"
encode -o "$work/link.npy"
expect_status 0 "a link to nothing yet"
cmp -s "$work/d/file.npy" "$want" || fail "the link's file is not there"
printf old >"$work/d/file.npy"
chmod 600 "$work/d/file.npy"
encode -o "$work/link.npy"
cmp -s "$work/d/file.npy" "$want" || fail "the link's file is not the new one"
[ -L "$work/link.npy" ] || fail "the link was replaced"
[ "$(stat -c %a "$work/d/file.npy")" = 600 ] || fail "mode 600 became $(stat -c %a "$work/d/file.npy")"
[ "$(ls "$work/d")" = file.npy ] || fail "left over: $(ls "$work/d")"

# Pipes, devices and standard output, by each of its names.
mkfifo "$work/pipe"
cat "$work/pipe" >"$work/got" &
encode -o "$work/pipe"
expect_status 0 "a pipe"
wait
cmp -s "$work/got" "$want" || fail "the pipe got something else"
[ -p "$work/pipe" ] || fail "the pipe was replaced"
encode -o /dev/null
expect_status 0 "/dev/null"
[ -c /dev/null ] || fail "/dev/null was replaced"
for name in - /dev/stdout /proc/self/fd/1; do
    (cd "$work/d" && "$program" op positional_encoding --length 3 --dim 4 -o $name >"$work/got" 2>"$work/err") ||
        fail "-o $name: $(cat "$work/err")"
    cmp -s "$work/got" "$want" || fail "-o $name into a file: something else"
    (cd "$work/d" && "$program" op positional_encoding --length 3 --dim 4 -o $name 2>/dev/null) |
        cmp -s - "$want" || fail "-o $name into a pipe: something else"
done
[ -e "$work/d/-" ] && fail "a file named -"
mkfifo "$work/pipe.svg"
cat "$work/pipe.svg" >"$work/got" &
run attention --weights "$want" -o "$work/pipe.svg"
expect_status 0 "a picture into a pipe"
wait
head -c 5 "$work/got" | grep -q '<?xml' || fail "a picture into a pipe: $(head -c 80 "$work/got")"
cp "$want" "$work/w.npy"
for format in svg png; do
    run attention --weights "$work/w.npy" -o "$work/named.$format"
    run attention --weights "$work/w.npy" -o - --format $format
    expect_status 0 "attention -o - --format $format"
    cmp -s "$work/out" "$work/named.$format" || fail "attention -o - --format $format differs from -o F.$format"
done
run attention --weights "$work/w.npy" -o -; expect_status 2 "attention -o -"; expect_error "or --format" "attention -o -"
run attention --weights "$work/w.npy" -o "$work/never.svg" --format png
expect_status 2 "--format against the name"
expect_error "--format png contradicts -o $work/never.svg, whose name says svg" "--format against the name"
[ -e "$work/never.svg" ] && fail "a refused picture was written"
run attention model text -o - --format svg --json; expect_status 2 "two for standard output"
bench=(bench --suite ops --filter softmax/f32/96x128-lengths --quick --rounds 1 --seconds 0.001)
run "${bench[@]}" -o "$work/r.json"
expect_status 0 "bench -o F"
run "${bench[@]}" -o -
expect_status 0 "bench -o -"
grep -q softmax "$work/err" || fail "bench -o -: no table on standard error"
mkfifo "$work/results"
cat "$work/results" >"$work/got" &
"$program" "${bench[@]}" -o "$work/results" >"$work/table" 2>"$work/err" || fail "bench -o PIPE: $(cat "$work/err")"
wait
grep -q softmax "$work/table" || fail "bench -o PIPE: no table on standard output"
for file in "$work/out" "$work/got"; do
    for format in html svg md; do
        "$program" report "$file" -o - --format $format >"$work/page" 2>"$work/err" ||
            fail "report -o - --format $format: $(cat "$work/err")"
        "$program" report "$file" -o "$work/page.$format" || fail "report -o F.$format"
        cmp -s "$work/page" "$work/page.$format" || fail "report -o - --format $format differs from -o F.$format"
    done
done
run report "$work/out" -o -; expect_status 2 "report -o -"; expect_error "or --format" "report -o -"
run report "$work/out" -o "$work/never.md" --format html; expect_status 2 "report --format against the name"
if [ -c /dev/full ]; then
    mkdir "$work/llama"
    ln -s "$data"/generation/llama/* "$work/llama"
    echo '{% for m in messages %}{{ m.content }}{% endfor %}' >"$work/llama/chat_template.jinja"
    echo 'the cat' | "$program" chat "$work/llama" --max-tokens 2 >/dev/full 2>"$work/err" && fail "chat on a full disk: status 0"
    expect_error "write standard output: No space left" "chat on a full disk"
    encode -o /dev/full
    expect_status 1 "/dev/full"; expect_error "/dev/full" "/dev/full"
    "$program" op positional_encoding --length 3 --dim 4 >/dev/full 2>"$work/err" && fail "standard output on a full disk: status 0"
    expect_error "standard output" "standard output on a full disk"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "standard output on a full disk is told of twice: $(cat "$work/err")"
    "$program" --version >/dev/full 2>/dev/null && fail "--version on a full disk: status 0"
    echo "the cat sat" >"$work/text.txt"
    encoder=$data/families/distilbert
    for command in "info $encoder" devices "similarity $encoder a b" "search $encoder --no-keep --corpus $work/text.txt cat" \
        "einsum ij,j-> --plan --shapes 2x3,3" "op positional_encoding --length 3 --dim 4" "selftest --filter l2_normalize" \
        "perplexity $data/generation/llama --file $work/text.txt"; do
        # shellcheck disable=SC2086
        "$program" $command >/dev/full 2>"$work/err" && fail "$command on a full disk: status 0"
        expect_error "write standard output: No space left" "$command on a full disk"
    done
    for command in tokenize detokenize; do # which end at the first window that cannot be written
        yes 7 | timeout 60 "$program" $command "$encoder" - >/dev/full 2>"$work/err"
        [ "${PIPESTATUS[1]}" = 1 ] || fail "$command of endless texts on a full disk"
        expect_error "standard output" "$command of endless texts on a full disk"
    done
fi

# Refused before the work: in less time than a device takes, by a text that would fail later.
encode -o ""; expect_status 2 "-o ''"; expect_error "--output" "-o ''"
encode -o "$work/d"; expect_status 1 "a directory"; expect_error "is a directory" "a directory"
encode -o "$work/none/x.npy" --device nosuch; expect_status 1 "no such directory"; expect_error "$work/none/x.npy" "no such directory"
encode --trace - ; expect_status 2 "--trace -"
ln -s loop "$work/loop"
encode -o "$work/loop" --device nosuch; expect_status 1 "a looping link"; expect_error "$work/loop" "a looping link"
if [ "$(id -u)" -ne 0 ]; then
    printf old >"$work/d/readonly.npy"
    chmod 400 "$work/d/readonly.npy"
    encode -o "$work/d/readonly.npy" --device nosuch; expect_status 1 "a read-only file"; expect_error "readonly.npy" "a read-only file"
fi

# Nor does an output replace what is read, under whatever name, or two outputs share a file: refused with both names, and nothing is lost.
mkdir "$work/read"
(
    cd "$work/read" || exit 1
    cp -r "$data/families/distilbert" encoder
    cp -r "$data/generation/llama" language
    printf 'one\ntwo\nthree\n' >t.txt
    cp "$want" w.npy
    cp "$work/r.json" b.json
    ln -s t.txt link.txt
    "$program" convert language x.gguf 2>/dev/null || fail "convert"
    find . -type f -exec cksum {} + | sort >"$work/before"
    replaces() { # replaces WANTED ARGUMENTS...
        local wanted=$1
        shift
        run "$@" <t.txt
        expect_status 2 "$*"; expect_error "$wanted" "$*"
    }
    replaces "--output t.txt would replace a file that is read (--file t.txt)" embed encoder --file t.txt -o t.txt
    replaces "--output ./t.txt would replace a file that is read (--file link.txt)" embed encoder --file link.txt -o ./t.txt
    replaces "--output t.txt would replace a file that is read (argument -)" embed encoder - -o t.txt
    replaces "--output encoder/config.json would replace a file that is read (argument encoder)" embed encoder a -o encoder/config.json
    replaces "--trace a.npy.json and --output a.npy.json are the same file" embed encoder -f t.txt -o a.npy --trace a.npy.json
    replaces "--trace a.npy.part and --output a.npy.part are the same file" embed encoder -f t.txt -o a.npy --trace a.npy.part
    replaces "(--file t.txt)" logits language -f t.txt -o t.txt
    replaces "(--file t.txt)" perplexity language -f t.txt --trace t.txt
    replaces "(--corpus t.txt)" search encoder --corpus t.txt two --trace t.txt
    replaces "(argument x.gguf)" generate x.gguf ab -n 3 --trace x.gguf
    replaces "--trace o.gguf and argument o.gguf are the same file" convert language o.gguf --check ab --trace o.gguf
    replaces "(argument b.json)" report b.json -o b.json --format md
    replaces "(--weights w.npy)" attention --weights w.npy -o w.npy --format svg
    replaces "(--bias w.npy)" op softmax w.npy --bias w.npy -o y.npy --trace w.npy
    replaces "x.gguf: expected another name: this file is read" convert x.gguf x.gguf --weights f16
    replaces "(--model x.gguf)" bench --model x.gguf -o x.gguf
    find . -type f -exec cksum {} + | sort | cmp -s - "$work/before" || fail "a refused output changed a file"
    for command in "op softmax w.npy -o w.npy" "einsum ij->ji w.npy -o w.npy"; do
        # shellcheck disable=SC2086
        run $command
        expect_status 0 "$command" # in place
    done
    # One alone reads standard input.
    for command in "search encoder --corpus - -" "search encoder --corpus - -f -" "tokenize encoder - - x" "tokenize encoder -f - -" \
        "detokenize encoder - -" "pronounce - -"; do
        # shellcheck disable=SC2086
        replaces "would both read standard input: expected at most one" $command
    done
    exit "$failures"
)
failures=$?

# Closed standard streams: nothing lands in the file, and their use is an error.
"$program" op positional_encoding --length 3 --dim 4 -o "$work/closed.npy" >&- 2>&- <&- || fail "closed streams: status $?"
cmp -s "$work/closed.npy" "$want" || fail "closed streams: another file"
CLF_LOG=debug "$program" op positional_encoding --length 3 --dim 4 -o "$work/closed.npy" >&- 2>&- ||
    fail "closed streams and messages: status $?"
cmp -s "$work/closed.npy" "$want" || fail "a message lies in the file"
"$program" op positional_encoding --length 3 --dim 4 >&- 2>"$work/err" && fail "a closed standard output: status 0"
expect_error "standard output" "a closed standard output"
"$program" pronounce - <&- >"$work/out" 2>"$work/err" && fail "a closed standard input: status 0"
expect_error "standard input" "a closed standard input"

# Names that are nearly right: one line that tells the nearest, status 2.
near() { # near WANTED ARGUMENTS...
    local wanted=$1
    shift
    run "$@"
    expect_status 2 "$*"; expect_error "$wanted" "$*"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: $(wc -l <"$work/err") lines"
}
near 'did you mean embed?' embd
near 'did you mean search?' help serach
near 'unknown command "xyzzy"' xyzzy
near 'did you mean clformer --version (-V)?' -v
near 'did you mean clformer --version (-V)?' version
near 'did you mean clformer op attention --score additive?' op additive
near 'did you mean clformer op attention --score bilinear?' op bilinear
near 'expected two texts or more' similarity "$data/families/distilbert" one
near 'did you mean --pooling?' embed --poling mean m a
near 'did you mean --device?' similarity --devise 0 m a
near 'did you mean --max-tokens?' embed --tokens 3 m a
near 'option "-z" is unknown' embed -z m a
near 'option "--stats" takes no value' embed --stats=1 m a
near 'option "--file" needs a value' embed m --file
near 'is ambiguous' embed --no m a
near '--file: expected one file, found "a" and "b"' tokenize m --file a --file b
near '--file: expected the name of a file to read, found ""' tokenize m --file ''
near 'embed: argument 1: expected the name of a file or folder, found ""' embed '' a
near 'unknown command "xyzzy"' --help xyzzy
near '--version: expected no further argument, found "embed"' --version embed
# A file without a text is told, once and by its name; faults of lines by file, line and column, each once.
printf '' >"$work/empty"
for command in tokenize embed classify similarity; do
    model=$data/families/distilbert
    [ $command = classify ] && model=$data/classifiers/bert
    run $command "$model" --file "$work/empty"; expect_status 0 "$command of nothing"
    [ "$(cat "$work/err")" = "clformer: $work/empty is empty: expected one text per line" ] || fail "$command: $(cat "$work/err")"
done
run tokenize "$data/families/distilbert" - <"$work/empty"; expect_error "clformer: standard input is empty" "tokenize -"
for line in 'x' '{"text": ' '"\223"' '["a" "b"]'; do
    printf '"one"\n'"$line"'\n' >"$work/bad.jsonl"
    run tokenize "$data/families/distilbert" --file "$work/bad.jsonl"; expect_status 1 "a bad line $line"
    grep -qE "^clformer: $work/bad.jsonl: line 2, column [0-9]+: " "$work/err" && [ "$(grep -o 'line [0-9]' "$work/err" | wc -l)" -eq 1 ] ||
        fail "a bad line $line: $(cat "$work/err")"
done
run -V; expect_status 0 "-V"
[ "$(cat "$work/out")" = "$("$program" --version)" ] || fail "-V: $(cat "$work/out")"
run embed -h; expect_status 0 "embed -h"
grep -q -- '--pooling' "$work/out" || fail "embed -h"

finish
