# SPDX-License-Identifier: MIT
# Completion of clformer for bash. Commands, options and choices are read from the program's own --help, so they are always those
# of its version.
_clformer()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]} help option value line
    local row='^  (-., |    )(--[a-z0-9-]+) ([^ ]+)'
    local -a command
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        help=$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$help help --help --version" -- "$word")
        return
    fi
    command=("${COMP_WORDS[1]}")
    if [ "${command[0]}" = op ]; then
        if [ "$COMP_CWORD" -eq 2 ]; then
            help=$("$program" op --list 2>/dev/null | sed -n 's/^\([a-z_]*\) .*npy.*/\1/p')
            mapfile -t COMPREPLY < <(compgen -W "$help --list" -- "$word")
            return
        fi
        command+=("${COMP_WORDS[2]}")
    elif [ "${command[0]}" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')" -- "$word")
        return
    fi
    help=$("$program" "${command[@]}" --help 2>/dev/null)
    # The value that the previous option takes: none, one of some words, or else a file.
    value= option=
    while IFS= read -r line; do
        if [[ $line =~ $row && ($before == "${BASH_REMATCH[2]}" || "$before, " == "${BASH_REMATCH[1]}") ]]; then
            option=${BASH_REMATCH[2]} value=${BASH_REMATCH[3]}
            break
        fi
    done <<<"$help"
    if [[ $option == --device ]]; then
        help=$("$program" devices 2>/dev/null | sed -n 's/^\([0-9][0-9]*\): .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$help cpu gpu" -- "$word")
    elif [[ $value == *"|"* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${value//|/ }" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(printf '%s\n' "$help" | sed -n 's/^  \(-., \|    \)\(--[a-z0-9-]*\).*/\2/p')" -- "$word")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -F _clformer clformer
