/* SPDX-License-Identifier: MIT */
/* Checks standard output by its stream's error flag, which stays set after a failure. */
#include "console/standard_output.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "console/options.h"
#include "console/progress.h"
#include "console/terminal_stream.h"

clf_status cli_output_flush(void)
{
    if (ferror(stdout)) /* errno may have been set by others since */
        CLF_FAIL(CLF_IO, "standard output: could not write everything");
    return fflush(stdout) == 0 ? CLF_OK : clfi_fail_errno("write", "standard output");
}

static bool is_file; /* standard output is a regular file, where a write does not block */

clf_status cli_output_done(size_t count, const char *one, const char *many)
{
    if (is_file) /* no interruption between the lines and their count; a pipe may block for ever, so it is left out */
        cli_interrupts_hold(true);
    const clf_status st = cli_output_flush();
    if (st == CLF_OK)
        cli_interrupts_say("%zu %s printed", count, clfi_plural(count, one, many));
    cli_interrupts_hold(false);
    return st;
}

void cli_output_prepare(void)
{
    static char room[1 << 16];
    struct stat info;
    is_file = fstat(STDOUT_FILENO, &info) == 0 && S_ISREG(info.st_mode);
    cli_terminal_guard();
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, room, _IOFBF, sizeof room);
}

void cli_output_check(void)
{
    const clf_status st = cli_output_flush();
    cli_terminal_finish();
    if (cli_has_failed() || st == CLF_OK)
        return;
    cli_fail(CLF_IO);
    _exit(EXIT_FAILURE);
}
