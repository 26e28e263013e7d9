/* SPDX-License-Identifier: MIT */
/* The context inside the library: device, queue, programs, arena and statistics. */
#ifndef CLFI_RUNTIME_CONTEXT_H
#define CLFI_RUNTIME_CONTEXT_H

#include "clformer/context.h"
#include "base/status.h"
#include "runtime/device.h"

typedef struct clf_buffer clf_buffer;
typedef struct clf_program_table clf_program_table;
typedef struct clf_arena clf_arena;
typedef struct clf_profile clf_profile;

struct clf_context {
    size_t references; /* the caller's one and one per buffer */
    clf_device device;
    cl_context opencl;
    cl_command_queue queue;
    clf_precision precision;
    char *engines;    /* forced engines as text, "" for none; read by op/engines.c */
    char *cache_dir;  /* NULL: no cache on disk */
    char *kernel_dir; /* NULL: embedded kernels only */
    char *kernel_dump; /* directory that gets a copy of every kernel's source; NULL: none */
    clf_program_table *programs;
    clf_arena *arena;
    clf_profile *profile; /* NULL unless profiling */
    clf_context_stats stats;
    void (*forget)(void); /* set by a launcher whose library keeps device objects: called before the device is let go; or NULL */
    clf_log_function log;
    void *log_user;
    clf_log_level log_level;
    bool logs_to_stderr;
};

void clfi_context_retain(clf_context *context);
void clfi_context_release(clf_context *context);

/* Waits for the queue and does nothing else: neither reads events nor saves programs. DEVICE. */
clf_status clfi_context_wait(clf_context *context);

/* One line to the context's log; cheap when nobody listens. */
void clfi_log(clf_context *context, clf_log_level level, const char *format, ...) CLFI_PRINTF(3, 4);

#endif
