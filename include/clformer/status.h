/* SPDX-License-Identifier: MIT */
/* Status codes: what every fallible function returns, and how to read the reason of the last failure. */
#ifndef CLFORMER_STATUS_H
#define CLFORMER_STATUS_H

#include <stddef.h>

#if defined(CLF_STATIC)
#define CLF_API
#elif defined(__GNUC__)
#define CLF_API __attribute__((visibility("default")))
#else
#define CLF_API
#endif

/* Marks functions whose status must be checked. */
#if defined(__GNUC__)
#define CLF_NODISCARD __attribute__((warn_unused_result))
#else
#define CLF_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* id, text: one row per status. Statuses differ in what a caller can do about them. */
#define CLF_STATUS_MAP(X)                                                           \
    X(OK, "ok")                                                                     \
    X(INVALID_ARGUMENT, "invalid argument")   /* fix the call */                    \
    X(UNSUPPORTED, "unsupported")             /* choose another device or option */ \
    X(OUT_OF_MEMORY, "out of memory")         /* free memory or send less */        \
    X(DEVICE, "device failure")               /* the OpenCL driver refused */       \
    X(BUILD, "kernel build failed")           /* the OpenCL compiler refused */     \
    X(IO, "input/output failure")             /* the operating system refused */    \
    X(FORMAT, "malformed data")               /* the file is broken */              \
    X(NOT_FOUND, "not found")                 /* name something that exists */      \
    X(INTERNAL, "internal error")             /* report a bug */                    \
    X(CANCELLED, "cancelled")                 /* the caller wanted it */            \
    X(DEVICE_LOST, "device lost")             /* make a new context and do it again; see clf_context_params.recovers */

typedef enum clf_status {
#define CLF_ENUM_ROW(id, text) CLF_##id,
    CLF_STATUS_MAP(CLF_ENUM_ROW)
#undef CLF_ENUM_ROW
        CLF_STATUS_COUNT
} clf_status;

/* Called now and then by functions that take long, with how much is done of how much. If it returns nonzero, the function ends with
 * CLF_CANCELLED, and its outputs hold no results. With done == total the return value is ignored. */
typedef int (*clf_progress)(void *user, size_t done, size_t total);

/* The status as short text, for example "invalid argument". Never NULL; static storage. */
CLF_API const char *clf_status_text(clf_status status);

/* The identifier without its prefix, for example "INVALID_ARGUMENT". Never NULL; static storage. */
CLF_API const char *clf_status_id(clf_status status);

/* Reason of the calling thread's most recent failure: the operand, what was expected, what was found. One line, no newline at
 * its end. Valid until the next failure in this thread; unspecified after a success. Never NULL; borrowed. */
CLF_API const char *clf_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
