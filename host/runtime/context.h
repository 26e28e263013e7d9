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

/* Bytes of the arena, and the most in use at once: see runtime/usage.h. */
typedef struct clf_usage {
    uint64_t arena_blocks, arena_regions; /* allocated on the device; handed out */
    uint64_t peak;
} clf_usage;

struct clf_context {
    size_t references; /* the caller's one and one per buffer */
    clf_device device;
    cl_context opencl;
    cl_command_queue queue;
    clf_precision precision;
    char *engines;     /* forced engines as text, "" for none; read by op/engines.c */
    char *cache_dir;   /* NULL: no cache on disk */
    char *kernel_dir;  /* NULL: embedded kernels only */
    char *kernel_dump; /* directory that gets a copy of every kernel's source; NULL: none */
    char *tuned_file;  /* choices measured on this device; NULL: not used. Read by op/tuned.c at the first choice of an engine */
    bool is_tuning_read;
    struct clf_tuning *tuning; /* what it says of this device; NULL: nothing */
    void (*release_tuning)(struct clf_tuning *tuning);
    const struct clf_clblast_parameters *clblast; /* of `tuning`; NULL: CLBlast's own */
    clf_program_table *programs;
    clf_arena *arena;
    clf_profile *profile; /* NULL unless profiling */
    clf_context_stats stats;
    clf_usage usage;
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

/* Where tuned choices lie unless a context's parameters say otherwise: $XDG_CONFIG_HOME/clformer/tuned.json. *out: the caller frees it.
 * NOT_FOUND: neither that variable nor HOME is set. */
clf_status clfi_tuned_path(char **out);

/* One line to the context's log; cheap when nobody listens. */
void clfi_log(const clf_context *context, clf_log_level level, const char *format, ...) CLFI_PRINTF(3, 4);

#endif
