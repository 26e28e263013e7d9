/* SPDX-License-Identifier: MIT */
/* The one origin of every failure: a status and its formatted reason are set together. */
#ifndef CLFI_BASE_STATUS_H
#define CLFI_BASE_STATUS_H

#include "clformer/status.h"

#if defined(__GNUC__)
#define CLFI_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define CLFI_PRINTF(format_index, first_argument)
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Records the reason for the calling thread and returns `status`. Bytes that are not printable UTF-8 text become '?', so that a hostile
 * file name or key cannot drive a terminal. Texts longer than 1,023 bytes are truncated. */
clf_status clfi_fail(clf_status status, const char *format, ...) CLFI_PRINTF(2, 3);

/* keep copies the recorded reason; restore puts it back after work whose own failures were reported elsewhere. */
enum { CLFI_REASON_BYTES = 1024 };
void clfi_reason_keep(char reason[CLFI_REASON_BYTES]);
void clfi_reason_restore(const char reason[CLFI_REASON_BYTES]);

/* Puts "context: " in front of the recorded reason and returns `status`: for callers that know more than the callee (a file's name). */
clf_status clfi_fail_prefix(clf_status status, const char *format, ...) CLFI_PRINTF(2, 3);

#define CLF_FAIL(status, ...) return clfi_fail((status), __VA_ARGS__)

/* Forwards a failure unchanged. */
#define CLF_TRY(expression)                            \
    do {                                               \
        const clf_status clf_try_status = (expression); \
        if (clf_try_status != CLF_OK)                  \
            return clf_try_status;                     \
    } while (0)

/* The same for functions with one exit: needs a variable `st` and a label `done`. */
#define CLF_GOTO(expression)      \
    do {                          \
        st = (expression);        \
        if (st != CLF_OK)         \
            goto done;            \
    } while (0)

#endif
