/* SPDX-License-Identifier: MIT */
/* Reports lines that are not UTF-8. */
#include "console/ill_formed.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "console/progress.h"
#include "console/terminal.h"

void cli_ill_formed_meet(cli_ill_formed *seen, const char *text, size_t size, size_t line)
{
    if (clfi_utf8_check((const unsigned char *)text, size) == size)
        return;
    if (seen->lines++ == 0)
        seen->first = line;
}

void cli_ill_formed_meet_all(cli_ill_formed *seen, const char *text, size_t size)
{
    const char *const end = text + size;
    for (size_t line = 1; text < end; line++) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text)), *const stop = newline ? newline : end;
        cli_ill_formed_meet(seen, text, (size_t)(stop - text), line);
        text = stop + 1;
    }
}

void cli_ill_formed_say(cli_ill_formed *seen, const char *name)
{
    if (seen->lines == 0)
        return;
    const size_t others = seen->lines - 1;
    cli_line_end();
    fprintf(stderr, "clformer: ");
    cli_print_line(stderr, name, strlen(name), 0);
    if (others)
        fprintf(stderr, ": line %zu and %zu more", seen->first, others);
    else
        fprintf(stderr, ": line %zu", seen->first);
    fprintf(stderr, " %s not UTF-8: ill-formed bytes are read as U+FFFD (if it is Latin-1: iconv -f LATIN1 -t UTF-8 FILE > NEW)\n",
            clfi_plural(seen->lines, "is", "are"));
    *seen = (cli_ill_formed){0};
}
