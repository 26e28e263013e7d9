/* SPDX-License-Identifier: MIT */
/* Reads options structs of callers that were compiled with another version of the library. */
#include "base/options.h"

#include <string.h>

/* Larger than every options struct. A size member that was never set may hold any number, and is most often above it. */
enum { LARGEST_SIZE = 4096 };

static clf_status check_size(const char *type, size_t size)
{
    if (size < sizeof size || size > LARGEST_SIZE)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: its member size is %zu, expected sizeof(%s) (start from the INIT macro or %s_default())", type,
                 size, type, type);
    return CLF_OK;
}

clf_status clfi_options_read(const char *type, const void *given, const void *defaults, size_t known, void *out)
{
    size_t size;
    memcpy(out, defaults, known);
    if (!given)
        return CLF_OK;
    memcpy(&size, given, sizeof size);
    CLF_TRY(check_size(type, size));
    for (size_t i = known; i < size; i++)
        if (((const unsigned char *)given)[i])
            CLF_FAIL(CLF_UNSUPPORTED,
                     "%s: its size is %zu and a member past byte %zu is set, which this version of the library (%zu bytes) does not have",
                     type, size, known, known);
    memcpy(out, given, size < known ? size : known);
    memcpy(out, &known, sizeof known);
    return CLF_OK;
}

clf_status clfi_options_default(const char *type, const void *defaults, size_t known, void *out, size_t size)
{
    if (!out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s_default: out must not be NULL", type);
    CLF_TRY(check_size(type, size));
    memset(out, 0, size);
    memcpy(out, defaults, size < known ? size : known);
    memcpy(out, &size, sizeof size);
    return CLF_OK;
}
