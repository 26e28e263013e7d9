/* SPDX-License-Identifier: MIT */
/* The clformer program. */
#include <stdio.h>

#include "clformer/version.h"

int main(void)
{
    puts("clformer " CLF_VERSION_STRING);
    return 0;
}
