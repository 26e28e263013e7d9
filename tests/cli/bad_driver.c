/* SPDX-License-Identifier: MIT */
/* OpenCL drivers that are broken from the start: loading them never ends, or ends the program. */
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void)
{
#ifdef CLF_TEST_HANGS
    for (;;)
        pause();
#else
    abort();
#endif
}
