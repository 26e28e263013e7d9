# SPDX-License-Identifier: MIT
# awk -f manual.awk PAGE ROWS: PAGE with the sections of ROWS, what `--help=manual` of every command and op prints, below OPTIONS. An option that
# at least three of them have with the same words stands once, below COMMON OPTIONS, where PAGE does not describe it by hand.

# Ends the option that is being read.
function finish() {
    if (row != "") {
        own[section, ++count[section]] = row
        if (!(row in users))
            order[++kinds] = row
        users[row] = users[row] (users[row] == "" ? "" : ", ") section
        used[row]++
    }
    row = ""
}

# "--device" of a line "\-\-device".
function name_of(text, plain) {
    plain = text
    gsub(/\\-/, "-", plain)
    gsub(/\\f./, "", plain)
    return match(plain, /--[a-z0-9-]+/) ? substr(plain, RSTART, RLENGTH) : ""
}

function is_common(text) { return used[text] >= LEAST_USERS }

function print_section(name, i, common) {
    print ".SS " name
    common = ""
    for (i = 1; i <= count[name]; i++)
        if (is_common(own[name, i]))
            common = common (common == "" ? "" : ", ") name_of(own[name, i])
        else
            print own[name, i]
    gsub(/-/, "\\-", common)
    if (common != "")
        print ".PP\nOf the common options: " common "."
    printf "%s", rest[name]
}

# What PAGE does not say of the common options, with the commands that have them.
function print_common(i) {
    for (i = 1; i <= kinds; i++)
        if (is_common(order[i]) && !(name_of(order[i]) in by_hand))
            print order[i] "\n(" users[order[i]] ")"
}

BEGIN { LEAST_USERS = 3 }

FNR == NR {
    page[++lines] = $0
    if (/^\.SH/)
        in_common = ($0 == ".SH COMMON OPTIONS")
    else if (in_common && page[lines - 1] == ".TP")
        by_hand[name_of($0)]
    next
}

/^\.SS / { finish(); section = substr($0, 5); sections[++section_count] = section; in_rest = 0; next }
/^\.TP$/ && !in_rest { finish(); row = $0; next }
/^\.PP$/ { finish(); in_rest = 1 }
in_rest { rest[section] = rest[section] $0 "\n"; next }
{ row = row "\n" $0 }

END {
    finish()
    for (l = 1; l <= lines; l++) {
        if (page[l] ~ /^\.SH/ && in_end) {
            print_common()
            in_end = 0
        }
        print page[l]
        if (page[l] == ".SH OPTIONS") {
            print "Those of each command; what several share stands once, in\n.BR \"COMMON OPTIONS\" ."
            for (s = 1; s <= section_count; s++)
                print_section(sections[s])
        }
        if (page[l] == ".SH COMMON OPTIONS")
            in_end = 1
    }
}
