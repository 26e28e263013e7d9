#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Completion in bash offers every command, and every option and choice that --help tells. usage: test_completion.sh PROGRAM DATA
set -u
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC1091
. "$(dirname "$0")/../../host/cli/completion/clformer.bash"

offered() { # offered WORDS...: what is offered for the last of them
    COMP_WORDS=("$program" "$@")
    COMP_CWORD=$#
    _clformer 2>/dev/null
    printf '%s\n' "${COMPREPLY[@]}" | sort
}
told() { "$program" "$@" --help | grep -oE '^  (-., |    )--[a-z0-9-]+' | grep -oE -- '--.*' | sort; }

commands=$("$program" --help | sed -n '/^commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
for command in $commands; do
    offered '' | grep -qx "$command" || fail "the command $command is not offered"
    [ "$command" = op ] && continue
    [ "$(offered "$command" --)" = "$(told "$command")" ] || fail "$command: offered $(offered "$command" -- | tr '\n' ' ')"
done
for op in softmax layer_norm mha; do
    offered op '' | grep -qx $op || fail "the op $op is not offered"
    [ "$(offered op $op --)" = "$(told op $op)" ] || fail "op $op: offered $(offered op $op -- | tr '\n' ' ')"
done
[ "$(offered embed m --pooling '' | tr '\n' ' ')" = "cls last max mean mean_sqrt_len model weighted_mean " ] ||
    fail "--pooling: $(offered embed m --pooling '')"
[ "$(offered embed m --pooling me | tr '\n' ' ')" = "mean mean_sqrt_len " ] || fail "--pooling me: $(offered embed m --pooling me)"
[ "$(offered se | tr '\n' ' ')" = "search selftest serve " ] || fail "se: $(offered se)"
[ "$(offered attention -o x --format '' | tr '\n' ' ')" = "png svg " ] || fail "--format: $(offered attention -o x --format '')"
devices=$("$program" devices | sed -n 's/^\([0-9]*\): .*/\1/p' | sort)
for before in --device -d; do
    [ "$(offered embed m $before '')" = "$(printf '%s\ncpu\ngpu\n' "$devices" | sort)" ] || fail "$before: $(offered embed m $before '')"
done
[ "$(offered op softmax --device c)" = cpu ] || fail "op softmax --device c: $(offered op softmax --device c)"

# A word before is text, whatever stands in it.
for before in "/x/;e touch $work/pwned #'" '.*' '-.' '[' '\' "$work/fi" "'\$(touch $work/pwned)'"; do
    COMP_WORDS=("$program" embed "$before" '')
    COMP_CWORD=3
    (cd "$work" && _clformer 2>"$work/err")
    grep -v compopt "$work/err" && fail "completion behind the word $before complains"
done
[ ! -e "$work/pwned" ] || fail "a word of the command line ran as a command"
touch "$work/file.txt"
[ "$(offered embed m --file "$work/fi")" = "$work/file.txt" ] || fail "files: $(offered embed m --file "$work/fi")"
if command -v zsh >/dev/null 2>&1; then
    zsh -n "$(dirname "$0")/../../host/cli/completion/_clformer" || fail "zsh's completion does not parse"
fi
finish
