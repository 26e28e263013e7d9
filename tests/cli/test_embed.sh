#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# embed, similarity, search and tokenize on the real model: inputs, outputs, orders, refusals. usage: test_embed.sh PROGRAM DATA
set -u
. "$(dirname "$0")/common.sh"
model=${CLF_MODEL_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/clformer/models/all-MiniLM-L6-v2}
[ -d "$model" ] || { echo "skipped: no model in $model"; exit 77; }

# Texts from arguments, a file, standard input and .jsonl give the same rows.
printf 'first text\nsecond text, a little longer than the first\nthird\n' >"$work/texts.txt"
printf '"first text"\n{"text": "second text, a little longer than the first", "id": 7}\n\n"third"\n' >"$work/texts.jsonl"
run embed "$model" 'first text' 'second text, a little longer than the first' third
expect_status 0 "embed arguments"
expect_lines 3 "embed arguments"
cp "$work/out" "$work/want"
for how in "--file $work/texts.txt" "--file $work/texts.jsonl"; do
    # shellcheck disable=SC2086
    run embed "$model" $how
    expect_status 0 "embed $how"
    cmp -s "$work/out" "$work/want" || fail "embed $how differs from arguments"
done
"$program" embed "$model" - <"$work/texts.txt" >"$work/out" 2>"$work/err" || fail "embed -"
cmp -s "$work/out" "$work/want" || fail "embed - differs from arguments"
printf 'first text\r\nsecond text, a little longer than the first\r\nthird' >"$work/crlf.txt"
run embed "$model" --file "$work/crlf.txt"
cmp -s "$work/out" "$work/want" || fail "embed of lines that end in CR LF, the last without, differs"

# Formats.
run embed "$model" --format text 'first text'
expect_lines 1 "embed --format text"
[ "$(wc -w <"$work/out")" -eq 384 ] || fail "embed --format text: $(wc -w <"$work/out") numbers, expected 384"
run embed "$model" --file "$work/texts.txt" -o "$work/e.npy"
expect_status 0 "embed -o .npy"
[ "$(head -c 6 "$work/e.npy" | od -An -tx1 | tr -d ' ')" = "934e554d5059" ] || fail "no NumPy magic"
[ "$(stat -c %s "$work/e.npy")" -ge $((3 * 384 * 4 + 128)) ] || fail "the .npy file is too short"
: >"$work/empty.txt"
run embed "$model" --file "$work/empty.txt"
expect_status 0 "embed of an empty file"
expect_lines 0 "embed of an empty file"
{ printf 'first\n\n'; head -c 67108865 /dev/zero; } >"$work/wide.txt"
run tokenize "$model" --file "$work/wide.txt"
rm "$work/wide.txt"
expect_error "$work/wide.txt: line 3 is longer than 67108864 bytes" "a line of more than 64 MiB"

# Truncation is told once.
{ for _ in $(seq 400); do printf 'word '; done; echo; } >"$work/long.txt"
cat "$work/long.txt" "$work/long.txt" >"$work/two.txt"
run embed "$model" --file "$work/two.txt" -o "$work/two.npy"
expect_error "2 texts were longer than 256 tokens" "truncation"
[ "$(grep -c 'longer than' "$work/err")" -eq 1 ] || fail "more than one notice"
run embed "$model" --max-tokens 512 --file "$work/long.txt" -o "$work/two.npy"
[ -s "$work/err" ] && fail "a notice although nothing was cut: $(cat "$work/err")"

# Similarity and search.
run similarity "$model" 'a cat sits on the mat' 'a kitten rests on a rug' 'stock prices fell sharply'
expect_lines 3 "similarity"
awk 'NR==1 && !($1 > 0.999 && $2 > $3 + 0.2) { exit 1 }' "$work/out" || fail "similarity: unexpected order: $(cat "$work/out")"
printf 'The quick brown fox\nInterest rates rise again\nA dog barks at night\n' >"$work/corpus.txt"
run search "$model" --corpus "$work/corpus.txt" --top 2 'central bank policy' 'animals'
expect_status 0 "search"
sed -n 2p "$work/out" | grep -q 'Interest rates' || fail "search: first hit is $(sed -n 2p "$work/out")"
expect_lines 6 "search --top 2 of two queries"
run embed "$model" --file "$work/corpus.txt" -o "$work/corpus.npy"
run search "$model" --corpus "$work/corpus.npy" --texts "$work/corpus.txt" --top 1 --json 'central bank policy'
grep -q '"index": 1' "$work/out" || fail "search in .npy: $(cat "$work/out")"

# A .npy corpus without its texts; texts that are not UTF-8; what is not finite.
run search "$model" --corpus "$work/corpus.npy" --top 2 'central bank policy'
expect_status 0 "search without --texts"
expect_lines 3 "search without --texts"
run search "$model" --corpus "$work/corpus.npy" --top 1 --json 'central bank policy'
grep -q '"index": 1, "score": 0[.0-9]*, "text": null' "$work/out" || fail "search --json without --texts: $(cat "$work/out")"
printf 'bad \377 byte\nfine\n' >"$work/bytes.txt"
run search "$model" --corpus "$work/bytes.txt" --json "$(printf 'query \376')"
expect_status 0 "search in ill-formed UTF-8"
bad=$(printf '\357\277\275')
grep -qF "\"query\": \"query $bad\"" "$work/out" && grep -qF "\"text\": \"bad $bad byte\"" "$work/out" ||
    fail "ill-formed UTF-8: $(cat "$work/out")"
{ head -c -4 "$work/corpus.npy"; printf '\000\000\300\177'; } >"$work/nan.npy"
run search "$model" --corpus "$work/nan.npy" --json query
expect_status 1 "NaN in a corpus"; expect_error "nan.npy: row 2, column 383 is nan" "NaN in a corpus"
[ -s "$work/out" ] && fail "NaN in a corpus: $(cat "$work/out")"
mkdir -p "$work/kernels/any"
sed 's/^\( *\)PASTE(vector_, STORE_Y)(y + y_offset + sequence/\1if (sequence == 1) result = NAN;\n&/' \
    "$(dirname "$0")/../../cl/any/pooling.cl" >"$work/kernels/any/pooling.cl"
cmp -s "$(dirname "$0")/../../cl/any/pooling.cl" "$work/kernels/any/pooling.cl" && fail "pooling.cl was not changed"
for how in "" "-o $work/never.json" "-o $work/never.npy"; do
    # shellcheck disable=SC2086
    CLF_KERNEL_DIR=$work/kernels run embed "$model" --file "$work/texts.txt" $how
    expect_status 1 "an embedding that is not finite $how"; expect_error "not finite" "an embedding that is not finite $how"
    case $how in # a fingerprint's sentences come first
        *.npy) expect_error "the fingerprint's sentences: " "an embedding that is not finite $how" ;;
        *)
            expect_error "texts.txt: line " "an embedding that is not finite $how"
            grep -q 'text [0-9]' "$work/err" && fail "counted twice: $(cat "$work/err")"
            ;;
    esac
    [ -s "$work/out" ] && fail "printed: $(head -c 200 "$work/out")"
done
# A fast kernel that computes wrong: its texts are computed again by the portable one.
mkdir -p "$work/wrong/cpu" "$work/wrong/gpu"
source=$(dirname "$0")/../../cl
sed 's/^\( *\)store_queries(result, .*/\1result[0] = (float16)(NAN);\n&/' \
    "$source/cpu/attention_vector.cl" >"$work/wrong/cpu/attention_vector.cl"
sed 's/^    EACH_COLUMN_VECTOR(STORE_COLUMNS)/    o0_0_0 = (float4)(NAN);\n&/' \
    "$source/gpu/attention_group.cl" >"$work/wrong/gpu/attention_group.cl"
for name in cpu/attention_vector.cl gpu/attention_group.cl; do
    cmp -s "$source/$name" "$work/wrong/$name" && fail "$name was not changed"
done
run embed "$model" --format text 'a cat' && cp "$work/out" "$work/right"
CLF_LOG=error CLF_KERNEL_DIR=$work/wrong run embed "$model" --format text 'a cat'
expect_status 0 "a wrong kernel"; expect_error "computed again by the portable engines" "a wrong kernel"
paste -d ' ' "$work/right" "$work/out" |
    awk '{ n = NF / 2; for (i = 1; i <= n; i++) { d = $i - $(n + i); if (!(d * d < 1e-10)) exit 1 } } END { exit NR != 1 }' ||
    fail "a wrong kernel: another embedding"
compgen -G "$work/never*" >/dev/null && fail "an embedding that is not finite left a file"
grep -q null "$work/want" && fail "null in embeddings"
run similarity "$model" 'a cat' 'a kitten'
sed -n 2p "$work/out" | grep -q '  a kitten$' || fail "similarity names no row: $(cat "$work/out")"
run embed "$model" --format text -o "$work/never.npy" a
expect_status 2 "--format text -o .npy"; expect_error "never.npy" "--format text -o .npy"
run embed "$model" -o "" a; expect_status 2 "-o without a name"; expect_error "--output" "-o without a name"
"$program" embed "$model" --format npy 'first text' >"$work/stdout.npy" 2>"$work/err" || fail "--format npy: $(cat "$work/err")"
run embed "$model" -o "$work/file.npy" 'first text'
cmp -s "$work/stdout.npy" "$work/file.npy" || fail "--format npy on standard output differs from -o F.npy"

# Tokens.
run tokenize "$model" 'Hello, world!'
[ "$(cat "$work/out")" = "[101, 7592, 1010, 2088, 999, 102]" ] || fail "tokenize: $(cat "$work/out")"
run tokenize "$model" --text 'unaffable'
[ "$(cat "$work/out")" = '["[CLS]","una","##ffa","##ble","[SEP]"]' ] || fail "tokenize --text: $(cat "$work/out")"
run tokenize "$model" --no-special '[SEP]'
[ "$(cat "$work/out")" = "[101, 1031, 19802, 1033, 102]" ] || fail "tokenize --no-special: $(cat "$work/out")"
run tokenize "$model" --no-special-tokens '[SEP]'
[ "$(cat "$work/out")" = "[102]" ] || fail "tokenize --no-special-tokens: $(cat "$work/out")"
run tokenize "$model" --json --offsets bytes --pair 'été' 'Hi!'
wanted='{"ids":[101,7632,999,102,3802,2063,102],"tokens":["[CLS]","hi","!","[SEP]","et","##e","[SEP]"],"type_ids":[0,0,0,0,1,1,1],'
wanted+='"special_mask":[1,0,0,1,0,0,1],"offsets":[[0,0],[0,2],[2,3],[0,0],[0,3],[3,5],[0,0]],"truncated":false}'
[ "$(cat "$work/out")" = "$wanted" ] || fail "tokenize --json: $(cat "$work/out")"
# A text that a tokenizer's regular expression takes too long on is told by its line.
mkdir "$work/slow"
printf '%s' '{"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a*)*[bc]"},' \
    '"behavior":"Isolated"}}' >"$work/slow/tokenizer.json"
{ printf 'a\n\n'; head -c 50000 /dev/zero | tr '\0' a; echo; } >"$work/slow.txt"
run tokenize "$work/slow" --file "$work/slow.txt"
expect_status 1 "a slow expression"
expect_error "$work/slow.txt: line 3: regular expression at byte 0 of a text of 50000" "a slow expression"
mkdir "$work/growing"
ln -s "$model"/* "$work/growing"
rm -f "$work/growing/tokenizer.json"
python3 - "$model/tokenizer.json" "$work/growing/tokenizer.json" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    content = json.load(file)
double = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
content["normalizer"] = {"type": "Sequence", "normalizers": [double] * 64}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(content, file)
END
for command in tokenize embed; do
    run "$command" "$work/growing" 'xyz' 'an'
    expect_status 1 "$command: a text that grows"
    expect_error "clformer: text 2: " "$command: a text that grows"
    expect_error "normalizers, pre-tokenizers or decoders of the tokenizer make more than" "$command: a text that grows"
done
run detokenize "$model" --skip-special 101 '[7592, 1010]' 2088 999 102
[ "$(cat "$work/out")" = 'hello, world!' ] || fail "detokenize: $(cat "$work/out")"
run tokenize "$model" 'one text' 'another'
cp "$work/out" "$work/ids.txt"
run detokenize "$model" --json --file "$work/ids.txt"
[ "$(cat "$work/out")" = "$(printf '"[CLS] one text [SEP]"\n"[CLS] another [SEP]"')" ] || fail "detokenize --file: $(cat "$work/out")"
"$program" detokenize "$model" - <"$work/ids.txt" >"$work/out" 2>"$work/err" || fail "detokenize -: $(cat "$work/err")"
[ "$(cat "$work/out")" = "$(printf '[CLS] one text [SEP]\n[CLS] another [SEP]')" ] || fail "detokenize -: $(cat "$work/out")"
run tokenize "$model" --json 'one text' 'another'
cp "$work/out" "$work/objects.jsonl"
cp "$work/ids.txt" "$work/ids.jsonl"
wanted=$(printf '"[CLS] one text [SEP]"\n"[CLS] another [SEP]"')
for file in ids objects; do
    run detokenize "$model" --json --file "$work/$file.jsonl"
    [ "$(cat "$work/out")" = "$wanted" ] || fail "detokenize --file $file.jsonl: $(cat "$work/out")"
done
for line in '101\0 102' '101 102x' '101 \v102' '+101' 30522 99999999999999999999 '{"ids":[30522]}' '{"ids":["101"]}' '{"tokens":[]}'; do
    printf '101\n%b\n' "$line" >"$work/bad.txt"
    run detokenize "$model" --file "$work/bad.txt"
    expect_status 1 "detokenize of a line $line"
    expect_error "bad.txt: line 2: token id" "detokenize of a line $line"
done
run detokenize "$model" 30522
expect_status 2 "detokenize of an id outside the vocabulary"
expect_error "token id 30522" "detokenize"

# Statistics and traces.
run embed "$model" --stats --trace "$work/trace.json" -o "$work/e.npy" 'first text'
expect_status 0 "embed --stats --trace"
expect_error "texts/s" "--stats"
expect_error "kernel" "--stats"
grep -q '"traceEvents"' "$work/trace.json" || fail "no trace"

# The second start builds nothing.
CLF_CACHE_DIR=$work/cache "$program" embed "$model" a >/dev/null 2>&1
CLF_CACHE_DIR=$work/cache "$program" embed "$model" --stats a 2>"$work/err" >/dev/null
expect_error "(0 programs built)" "second start"

# Refusals: one line that names the thing, a status, no file left behind.
run embed; expect_status 2 "no model"; expect_error "usage" "no model"
run embed "$model"; expect_status 2 "no texts"; expect_error "no texts after the model \"$model\"; usage" "no texts"
run embed "$model/config.json" a; expect_status 1 "a file as model"; expect_error "config.json: not a directory" "a file as model"
run embed /no/such/dir a; expect_status 1 "no directory"; expect_error "/no/such/dir" "no directory"
run embed "$model" --file /no/such/file; expect_status 1 "no file"; expect_error "/no/such/file" "no file"
run embed "$model" --bogus a; expect_status 2 "unknown option"; expect_error "--bogus" "unknown option"
run embed "$model" --pooling sum a; expect_status 2 "pooling"; expect_error "cls|max|mean" "pooling"
run embed "$model" --max-tokens 0 a; expect_status 2 "max-tokens 0"
run embed "$model" --max-tokens 513 a; expect_status 2 "max-tokens 513"; expect_error "513" "max-tokens 513"
run embed "$model" --device nosuchdevice a; expect_status 1 "device"; expect_error "nosuchdevice" "device"
run embed "$model" --engine gemm=nosuch a; expect_status 2 "engine"; expect_error "nosuch" "engine"
run embed "$model" --engine nosuch=tiled a; expect_status 2 "op of an engine"
expect_error 'op "nosuch" is unknown; there are: ' "op of an engine"
run embed "$model" --engine rms_norm=nosuch a; expect_status 2 "engine of an op that does not run"
expect_error 'engine "nosuch" for rms_norm is unknown' "engine of an op that does not run"
CLF_LOG=nosuch run embed "$model" a; expect_status 2 "CLF_LOG"
expect_error 'CLF_LOG: expected error, info or debug, found "nosuch"' "CLF_LOG"
CLF_COMPILE_SECONDS=2m run embed "$model" a; expect_status 2 "CLF_COMPILE_SECONDS"
expect_error 'CLF_COMPILE_SECONDS: expected more than 0 seconds, found "2m"' "CLF_COMPILE_SECONDS"
printf '"good"\n{"txt": 1}\n' >"$work/bad.jsonl"
run embed "$model" --file "$work/bad.jsonl" -o "$work/never.npy"
expect_status 1 "broken .jsonl"; expect_error "line 2" "broken .jsonl"
compgen -G "$work/never.npy*" >/dev/null && fail "a refused run left a file"
run embed "$model" -o /no/such/dir/x.npy a; expect_status 1 "output"; expect_error "/no/such/dir" "output"
run search "$model" query; expect_status 2 "no corpus"
run search "$model" --corpus "$work/empty.txt" query; expect_status 1 "empty corpus"; expect_error "holds no text" "empty corpus"
run nosuchcommand; expect_status 2 "unknown command"; expect_error "nosuchcommand" "unknown command"

finish
