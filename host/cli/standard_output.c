/* SPDX-License-Identifier: MIT */
/* By the stream's error flag, which stays. */
#include "cli/standard_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/options.h"

clf_status cli_output_flush(void)
{
    if (ferror(stdout)) /* errno may have been set by others since */
        CLF_FAIL(CLF_IO, "standard output: not everything could be written");
    return fflush(stdout) == 0 ? CLF_OK : clfi_fail_errno("write", "standard output");
}

void cli_output_check(void)
{
    if (cli_has_failed() || cli_output_flush() == CLF_OK)
        return;
    cli_fail(CLF_IO);
    _exit(EXIT_FAILURE);
}
