/* SPDX-License-Identifier: MIT */
/* The context inside the library: device, queue, kernels, arena and statistics. */
#ifndef CLFI_RUNTIME_CONTEXT_H
#define CLFI_RUNTIME_CONTEXT_H

#include <stdatomic.h>

#include "clformer/context.h"
#include "base/status.h"
#include "runtime/device.h"

typedef struct clf_buffer clf_buffer;
typedef struct clf_kernel_table clf_kernel_table;
typedef struct clf_slot clf_slot;
typedef struct clf_arena clf_arena;
typedef struct clf_profile clf_profile;

/* Functions that only the maker of a context has (runtime/context_create.c). Buffers and programs lie between the two and know neither. */
typedef struct clf_context_life {
    void (*finished)(clf_context *context);      /* after the queue has finished: events are read, programs saved */
    void (*end)(clf_context *context);           /* when the last reference is gone */
    void (*measure_rates)(clf_context *context); /* of context->budget: runtime/launch_rates.h */
    clf_status (*reopen)(clf_context *context);  /* a new cl_context and queue in place of lost ones; on failure nothing has changed */
} clf_context_life;

/* Bytes of the arena, and the most in use at once: see runtime/usage.h. */
typedef struct clf_usage {
    uint64_t arena_blocks, arena_regions; /* allocated on the device; handed out */
    uint64_t allocations;                 /* buffers ever made */
    uint64_t peak;
} clf_usage;

/* Work of a launch, at most: multiply-adds, and bytes read and written as if nothing were read from a cache. */
typedef struct clf_work {
    double multiply_adds, bytes;
} clf_work;

/* Bounds of launches: see runtime/launch_budget.h. */
typedef struct clf_launch_budget {
    double limit_ns;                           /* of a launch; 0: none */
    double multiply_adds_per_ns, bytes_per_ns; /* rates that kernels keep on this device */
    bool is_measured;                          /* the rates were looked up; else they are guessed from units and clock */
    double waiting_ns;                         /* estimate of what entered the queue since it was flushed */
    const char *last_kernel;                   /* the last launch: its kernel's name, borrowed, and its estimate */
    double last_ns;
} clf_launch_budget;

/* Whether launches are recorded as graphs (runtime/launch_graph.h): $CLF_GRAPH. */
typedef enum clf_graph_use {
    CLFI_GRAPHS_LONG,  /* not set: those of many launches */
    CLFI_GRAPHS_NEVER, /* 0 */
    CLFI_GRAPHS_ALWAYS /* 1 */
} clf_graph_use;

struct clf_context {
    const clf_context_life *life;
    size_t references; /* the caller's one and one per buffer */
    clf_device device;
    char *device_doubt; /* why it might have been another one: clfi_device_list_doubt; NULL: it would not */
    cl_context opencl;
    cl_command_queue queue;
    struct clf_context *next_queue; /* of runtime/queue_order.h */
    clf_precision precision;
    char *engines;             /* forced engines as text, "" for none; read by op/engines.c */
    char *kernel_dir;          /* NULL: embedded kernels only */
    char *kernel_dump;         /* directory that gets a copy of every kernel's source; NULL: none */
    char *tuned_file;          /* choices measured on this device; NULL: not used. Read by op/tuned.c at the first choice of an engine */
    struct clf_shared *shared; /* with other contexts: programs, mapped files */
    clf_kernel_table *kernels;
    clf_slot *slots; /* of upper layers: runtime/slot.h */
    clf_arena *arena;
    clf_profile *profile; /* NULL unless profiling */
    clf_context_stats stats;
    clf_usage usage;
    clf_graph_use graphs;
    bool is_background; /* clf_context_params */
    clf_launch_budget budget;
    uint64_t build_number;           /* not 0: part of every program's options, so that no driver has kept a program of them */
    struct clf_recording *recording; /* of runtime/recording.h: launches go there; NULL: they enter the queue */
    clf_status (*interrupt)(struct clf_recording *recording); /* enqueues what it holds, launch by launch, and ends it */
    atomic_bool *is_stuck;            /* in what contexts share: set by the first queue of them that does not finish */
    const volatile uint32_t *is_lost; /* not 0: a graph ended before its end (runtime/launch_graph.h); NULL: there are none */
    bool recovers;                    /* clf_context_params */
    bool is_borrowed;                 /* cl_context and queue are the caller's */
    bool was_lost;                    /* the device was lost and opened again, and no work has succeeded since */
    uint32_t openings;                /* how often the device was opened again: buffers of an earlier opening are void */
    void (*on_loss)(void *user);      /* called when work goes on after a loss, of which clf_last_error tells; NULL: nobody watches */
    void *on_loss_user;
    struct clf_rehearsal *rehearsal; /* of runtime/rehearsal.h; NULL: work is done */
    uint64_t builds_expected;        /* programs from source that a rehearsal found necessary, and those built before */
    uint64_t asker;                  /* the engine that asks for kernels now, as a bit of op/engines.h; 0: none does */
    uint64_t unbuilt;                /* engines of which the driver cannot compile or run a kernel: they are left out */
    char unbuilt_reason[1024];       /* of the last of them */
    size_t unbuilt_graphs;           /* launch graphs whose program the compiler crashes or hangs on: launched one by one */
    void (*on_build)(void *user);    /* called before a program is built from source; NULL: nobody watches */
    void *on_build_user;
    clf_log_function log;
    void *log_user;
    clf_log_level log_level;
    bool logs_to_stderr;
};

/* clf_context_create without parameters, on exactly this device of a list, even if a new list would differ. */
clf_status clfi_context_create_on(const clf_device *device, clf_context **out);

/* INVALID_ARGUMENT: `what` was made on `maker`, and `context` neither is that one nor shares its cl_context (or is NULL). */
clf_status clfi_context_check(const clf_context *context, const clf_context *maker, const char *what);

void clfi_context_retain(clf_context *context);
void clfi_context_release(clf_context *context);

/* Before anything but a launch enters the queue: launches that were recorded enter it first. */
clf_status clfi_context_interrupt(clf_context *context);

/* The one call of clFinish: what it returned. Where it fails, *is_stuck is set. */
cl_int clfi_context_finish_queue(const clf_context *context);

/* Fails as "<format>: <code's name> (code)" for a call of the driver. Where the queue then says that the device is lost, the status is
 * DEVICE_LOST and the message names the last launch; else it is `status`. */
clf_status clfi_context_fail(const clf_context *context, cl_int code, clf_status status, const char *format, ...) CLFI_PRINTF(4, 5);

/* After work that ended with *st. True: the device was lost, the context is open again, and the caller repeats what was void; everything
 * that was made on the context before has to be made again (context->openings). False: *st is the result of the work. Only contexts with
 * clf_context_params.recovers come back, and only from the first of several losses in a row. The caller holds no temporary memory of the
 * context's arena.
 *
 *     do
 *         st = work(context);
 *     while (clfi_context_recover(context, &st)); */
CLF_NODISCARD bool clfi_context_recover(clf_context *context, clf_status *st);

/* Waits for the queue and does nothing else: neither reads events nor saves programs. DEVICE, DEVICE_LOST. */
clf_status clfi_context_wait(clf_context *context);

/* clf_context_finish before memory is freed that kernels may still use. A failure is logged, because no caller could receive it. */
void clfi_context_drain(clf_context *context);

/* Default path of tuned choices: $XDG_CONFIG_HOME/clformer/tuned.json. *out: the caller frees it.
 * NOT_FOUND: neither that variable nor HOME is set. */
clf_status clfi_tuned_path(char **out);

/* Folder of compiled programs: below cache_dir, else $CLF_CACHE_DIR, else the user's cache directory. *out: the caller frees it; NULL where
 * the first of them that is set is "". NOT_FOUND: no home directory is known. */
clf_status clfi_programs_path(const char *cache_dir, char **out);

/* One line to the context's log; cheap when nobody listens. */
void clfi_log(const clf_context *context, clf_log_level level, const char *format, ...) CLFI_PRINTF(3, 4);

#endif
