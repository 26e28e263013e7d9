/* SPDX-License-Identifier: MIT */
/* Keeps the message of the last failure for each thread. Allocates nothing, so that running out of memory can be reported too. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static _Thread_local char detail[CLFI_REASON_BYTES];

const char *clf_status_text(clf_status status)
{
    static const char *const texts[] = {
#define X(id, text) text,
        CLF_STATUS_MAP(X)
#undef X
    };
    return (unsigned)status < COUNT(texts) ? texts[status] : "unknown status";
}

const char *clf_status_id(clf_status status)
{
    static const char *const ids[] = {
#define X(id, text) #id,
        CLF_STATUS_MAP(X)
#undef X
    };
    return (unsigned)status < COUNT(ids) ? ids[status] : "UNKNOWN";
}

const char *clf_last_error(void)
{
    return detail;
}

clf_status clfi_fail(clf_status status, const char *format, ...)
{
    char fresh[CLFI_REASON_BYTES]; /* an argument may point into `detail` */
    va_list args;
    va_start(args, format);
    vsnprintf(fresh, sizeof fresh, format, args);
    va_end(args);
    clfi_utf8_make_printable(fresh, strlen(fresh));
    memcpy(detail, fresh, sizeof fresh);
    return status;
}

void clfi_reason_keep(char reason[CLFI_REASON_BYTES])
{
    memcpy(reason, detail, sizeof detail);
}

void clfi_reason_restore(const char reason[CLFI_REASON_BYTES])
{
    memcpy(detail, reason, sizeof detail);
}

clf_status clfi_fail_prefix(clf_status status, const char *format, ...)
{
    char prefix[CLFI_REASON_BYTES / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    return clfi_fail(status, "%s: %s", prefix, detail);
}
