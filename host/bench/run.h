/* SPDX-License-Identifier: MIT */
/* The runner: every workload on every engine of every device, verified first, then timed in rounds of random order.
 *
 * First each (device, workload, engine) is prepared alone and compared with the host's reference; what is wrong is FAILED and never timed.
 * Then rounds visit all that passed in a new random order, so that a machine that slows down does not slow one device alone. Each visit
 * drops its first runs and takes its share of the samples. */
#ifndef CLFI_BENCH_RUN_H
#define CLFI_BENCH_RUN_H

#include "bench/row_facts.h"
#include "bench/samples.h"
#include "bench/worker.h"

typedef enum clfi_row_status {
    CLFI_ROW_WAITING,     /* not yet verified: the run was interrupted */
    CLFI_ROW_OK,          /* verified; it has samples unless the run was interrupted */
    CLFI_ROW_FAILED,      /* a wrong result, or a failure of driver or program */
    CLFI_ROW_UNSUPPORTED, /* the device cannot: not built for it, no kernel compiles, no memory */
} clfi_row_status;

/* One workload on one engine of one device. */
typedef struct clfi_row {
    size_t workload, device; /* places in the lists */
    char *engine;            /* "": no choice */
    clfi_row_status status;
    char *reason;         /* of FAILED and UNSUPPORTED; else NULL */
    bool is_unbuilt;      /* UNSUPPORTED because its kernels do not compile */
    bool verified;        /* the result was compared and is right */
    clfi_row_facts facts; /* rate and share of the limit: not before the file is written */
    size_t runs_per_sample;
    double run_seconds;              /* of one run, when it was verified */
    json_t *kernels;                 /* names that one run launches; NULL: not run */
    clfi_samples wall_ms, device_ms; /* device: empty where not known */
    clfi_samples round_samples;      /* how many of wall_ms each visit took, in their order */
    double joules, joule_runs;       /* of so many runs; NaN: not measured */
} clfi_row;

typedef struct clfi_bench_device {
    json_t *facts; /* of the device list, and once it is open how its energy is measured and whether it is tuned */
    char *reason;  /* why it cannot be used; NULL: it can */
    clfi_child worker;
    size_t restarts; /* after a crash or a time limit */
} clfi_bench_device;

struct clfi_bench;

typedef struct clfi_bench_params {
    const char *device;   /* selector, "all", or NULL: $CLF_DEVICE, else the default device */
    const char *left_out; /* drivers whose devices are not looked for, a line for each, for the record only; NULL: none. Borrowed */
    bool quick;           /* for the record only */
    bool no_tuned;        /* choices of clformer tune are not used */
    uint64_t seed;        /* of the order */
    double min_seconds;   /* per row, over all rounds, and ... */
    size_t min_samples;   /* ... at least so many */
    size_t rounds;
    double longest_run; /* seconds; a row whose single run takes longer is left out, with that reason */
    double time_limit;  /* seconds for one answer of a device: preparing, comparing, and a visit beyond what it is meant to take */
    const volatile sig_atomic_t *stop;                       /* nonzero ends the run early; NULL: never */
    void (*progress)(void *user, size_t done, size_t total); /* visits and comparisons; NULL: none */
    /* the row that is verified or measured next; NULL: none */
    void (*running)(void *user, const struct clfi_bench *bench, const clfi_row *row);
    /* once the rows are known, after the comparisons and every round; NULL: none */
    clf_status (*checkpoint)(void *user, const struct clfi_bench *bench);
    void *user;
} clfi_bench_params;

#define CLFI_BENCH_PARAMS_INIT                                                                              \
    {                                                                                                       \
        .seed = 1, .min_seconds = 0.5, .min_samples = 10, .rounds = 10, .longest_run = 2, .time_limit = 600 \
    }
#define CLFI_BENCH_QUICK_SECONDS 0.1
enum { CLFI_BENCH_QUICK_ROUNDS = 5 };

typedef struct clfi_bench {
    const clfi_workload_list *workloads; /* borrowed */
    clfi_bench_params params;
    json_t *notes; /* of the list of devices: what has none or cannot be asked */
    clfi_bench_device *devices;
    size_t device_count;
    clfi_row *rows;
    size_t row_count, row_capacity;
    bool complete; /* every row that could be measured was */
} clfi_bench;

/* Fills *out, which the caller frees in any case. A device or row that fails is noted in its place and is no failure of the run; NOT_FOUND
 * and UNSUPPORTED are those of choosing a device; failures of checkpoint end the run. Interrupted: OK with complete false. */
clf_status clfi_bench_run(const clfi_workload_list *workloads, const clfi_bench_params *params, clfi_bench *out);
void clfi_bench_free(clfi_bench *bench);

#endif
