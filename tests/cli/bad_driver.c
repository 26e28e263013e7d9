/* SPDX-License-Identifier: MIT */
/* OpenCL drivers that are broken from the start: loading them never ends, or ends the program. */
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void)
{
#if defined(CLF_TEST_HANGS)
    for (;;)
        pause();
#elif defined(CLF_TEST_EXITS)
    exit(0);
#else
    abort();
#endif
}
