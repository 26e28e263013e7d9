/* SPDX-License-Identifier: MIT */
/* The context as the library's code sees it: device, queue, kernels, arena and statistics. */
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

/* Functions of runtime/context_create.c that lower files call through this table, because they may not include what it includes. */
typedef struct clf_context_life {
    void (*finished)(clf_context *context);      /* after the queue has finished: events are read, programs saved */
    void (*end)(clf_context *context);           /* when the last reference is gone */
    void (*measure_rates)(clf_context *context); /* sets the rates of context->budget (runtime/launch_rates.h) */
    clf_status (*reopen)(clf_context *context);  /* a new cl_context and queue in place of lost ones; on failure nothing has changed */
} clf_context_life;

/* Memory in use: see runtime/usage.h. */
typedef struct clf_usage {
    uint64_t arena_blocks, arena_regions; /* bytes of the arena: allocated on the device; handed out */
    uint64_t allocations;                 /* number of buffers ever made */
    uint64_t peak;                        /* bytes */
} clf_usage;

/* Upper bound of a launch's work: multiply-adds, and bytes read and written if no cache helps. */
typedef struct clf_work {
    double multiply_adds, bytes;
} clf_work;

/* Bounds of launches: see runtime/launch_budget.h. */
typedef struct clf_launch_budget {
    double limit_ns;                           /* longest time of a launch; 0: no limit */
    double multiply_adds_per_ns, bytes_per_ns; /* rates that kernels at least reach on this device */
    bool is_measured;                          /* the rates were measured or tried; false: they are guessed from units and clock */
    double waiting_ns;                         /* estimated time of the launches that entered the queue since it was flushed */
    const char *last_kernel;                   /* kernel of the last launch, borrowed; NULL: none since the device was opened */
    double last_ns;                            /* its estimate; 0: its work was not stated, or there is no limit */
} clf_launch_budget;

/* Whether launches are recorded as graphs (runtime/launch_graph.h): $CLF_GRAPH. */
typedef enum clf_graph_use {
    CLFI_GRAPHS_LONG,  /* not set: sequences of many launches */
    CLFI_GRAPHS_NEVER, /* 0 */
    CLFI_GRAPHS_ALWAYS /* 1 */
} clf_graph_use;

struct clf_context {
    const clf_context_life *life;
    size_t references; /* held by the caller, by each buffer, and by models, sessions and batches on the context */
    clf_device device;
    char *device_doubt; /* why another device might have been chosen (clfi_device_list_doubt); NULL: no doubt */
    cl_context opencl;
    cl_command_queue queue;
    struct clf_context *next_queue; /* list of runtime/queue_order.h */
    clf_precision precision;
    char *engines;             /* forced engines as text, "" for none; read by op/engines.c */
    char *kernel_dir;          /* NULL: embedded kernels only */
    char *kernel_dump;         /* directory that gets a copy of every kernel's source; NULL: none */
    char *tuned_file;          /* choices measured on this device; NULL: not used. Read by op/tuned.c at the first choice of an engine */
    struct clf_shared *shared; /* shared with other contexts: programs, mapped files */
    clf_kernel_table *kernels;
    clf_slot *slots; /* state of upper layers (runtime/slot.h) */
    clf_arena *arena;
    clf_profile *profile; /* NULL unless profiling */
    clf_context_stats stats;
    clf_usage usage;
    clf_graph_use graphs;
    bool is_background; /* clf_context_params */
    clf_launch_budget budget;
    uint64_t build_number;           /* not 0: part of every program's options, so that no driver has the program in its cache */
    struct clf_recording *recording; /* launches go there (runtime/recording.h); NULL: they enter the queue */
    clf_status (*interrupt)(struct clf_recording *recording); /* enqueues the recorded launches one by one, and ends the recording */
    atomic_bool *is_stuck;            /* of context->shared: set when a queue of these contexts does not finish */
    const volatile uint32_t *is_lost; /* not 0: a launch graph stopped early (runtime/launch_graph.h); NULL: no graphs */
    bool recovers;                    /* clf_context_params */
    bool is_borrowed;                 /* cl_context and queue are the caller's */
    bool was_lost;                    /* the device was lost and opened again, and no work has succeeded since */
    uint32_t openings;                /* how often the device was opened again; buffers of an earlier opening are invalid */
    void (*on_loss)(void *user);      /* called when work goes on after a loss (clf_last_error: why); NULL: a log line instead */
    void *on_loss_user;
    struct clf_rehearsal *rehearsal; /* runtime/rehearsal.h; NULL: work is really done */
    uint64_t rehearsals;             /* that have begun */
    uint64_t builds_expected;        /* programs built from source before the last rehearsal, plus those that it found missing */
    uint64_t asker;                  /* the engine that requests kernels now, as a bit (op/engines.h); 0: none */
    uint64_t unbuilt;                /* bits of engines that are left out: the driver cannot compile or run one of their kernels */
    char unbuilt_reason[1024];       /* why the last of them is left out */
    size_t unbuilt_graphs;           /* launch graphs whose program cannot be compiled: their kernels are launched one by one */
    void (*on_build)(void *user);    /* called before a program is built from source; NULL: nobody watches */
    void *on_build_user;
    clf_log_function log;
    void *log_user;
    clf_log_level log_level;
    bool logs_to_stderr;
};

/* clf_context_create without parameters, on exactly this device of a list, even if a new list would differ. */
clf_status clfi_context_create_on(const clf_device *device, clf_context **out);

/* Checks that `what`, which was made on `maker`, may be used with `context`. INVALID_ARGUMENT: context is NULL, or has another
 * cl_context. */
clf_status clfi_context_check(const clf_context *context, const clf_context *maker, const char *what);

void clfi_context_retain(clf_context *context);
void clfi_context_release(clf_context *context);

/* Ends a recording and enqueues its launches. Call it before anything but a launch enters the queue. */
clf_status clfi_context_interrupt(clf_context *context);

/* Waits by clFinish and returns its code. If it fails, *is_stuck is set. */
cl_int clfi_context_finish_queue(const clf_context *context);

/* Fails with the message "<format>: <code's name> (code)" after a failed driver call. If the queue then reports that the device is lost,
 * the status is DEVICE_LOST and the message names the last launch; otherwise it is `status`. */
clf_status clfi_context_fail(const clf_context *context, cl_int code, clf_status status, const char *format, ...) CLFI_PRINTF(4, 5);

/* Call it after work that ended with *st. True: the device was lost, the context is open again, and the caller repeats the work. Everything
 * that was made on the context before must be made again (context->openings). False: *st is the result of the work. Only contexts with
 * clf_context_params.recovers recover, and only from the first of several losses in a row. The caller must not hold temporary memory of the
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

/* Folder of compiled programs: below cache_dir, else $CLF_CACHE_DIR, else the user's cache directory. *out: the caller frees it; NULL if
 * the first of them that is set is "" (no cache). NOT_FOUND: no home directory is known. */
clf_status clfi_programs_path(const char *cache_dir, char **out);

/* Writes one line to the context's log; cheap if nobody listens. */
void clfi_log(const clf_context *context, clf_log_level level, const char *format, ...) CLFI_PRINTF(3, 4);

#endif
