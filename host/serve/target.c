/* SPDX-License-Identifier: MIT */
/* Takes the path out of a request's target and decodes it. */
#include "serve/target.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static const char *skip_host(const char *target)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < COUNT(schemes); i++) {
        const size_t length = strlen(schemes[i]);
        if (strncasecmp(target, schemes[i], length) == 0)
            return target + length + strcspn(target + length, "/?#");
    }
    return target;
}

clf_status srv_target_path(const char *target, char **out)
{
    const char *from = skip_host(target);
    const size_t length = strcspn(from, "?#");
    if (length == 0)
        return clfi_strdup("/", out);
    CLF_TRY(clfi_strndup(from, length, out));
    char *to = *out;
    for (const char *at = to; *at; at++) {
        const int high = *at == '%' ? digit_of(at[1]) : -1;
        const int low = high >= 0 ? digit_of(at[2]) : -1;
        const int byte = low >= 0 ? 16 * high + low : 0;
        *to++ = byte ? (char)byte : *at;
        at += byte ? 2 : 0;
    }
    *to = '\0';
    return CLF_OK;
}
