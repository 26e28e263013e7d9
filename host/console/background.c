/* SPDX-License-Identifier: MIT */
/* Gives this process a low priority (--background). */
#include "console/background.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "runtime/queue_create.h"

enum { NICE = 10 };

clf_status cli_background_enter(int is_asked)
{
    if (is_asked && !clfi_background_is_set() && setenv("CLF_BACKGROUND", "1", 1) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "--background: not enough memory");
    if (clfi_background_is_set())
        setpriority(PRIO_PROCESS, 0, NICE); /* if a sandbox forbids this, the device's part still works */
    return CLF_OK;
}
