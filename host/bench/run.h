/* SPDX-License-Identifier: MIT */
/* The runner of clformer bench: it runs every workload on every engine of every device.
 *
 * First each row (device, workload, engine) is prepared alone and compared with the host's reference. A wrong result is FAILED and never
 * timed. Then rounds visit all correct rows in a new random order each, so that a machine that slows down does not slow down one device
 * alone. A visit drops its first runs and takes its share of the samples. */
#ifndef CLFI_BENCH_RUN_H
#define CLFI_BENCH_RUN_H

#include "bench/row_facts.h"
#include "bench/samples.h"
#include "bench/worker.h"

typedef enum clfi_row_status {
    CLFI_ROW_WAITING,     /* not yet verified, because the run was interrupted */
    CLFI_ROW_OK,          /* verified; it has samples unless the run was interrupted */
    CLFI_ROW_FAILED,      /* a wrong result, or a failure of driver or program */
    CLFI_ROW_UNSUPPORTED, /* the device cannot run it: not supported, kernels do not compile, or too little memory */
} clfi_row_status;

/* One workload on one engine of one device. */
typedef struct clfi_row {
    size_t workload, device; /* indices in the lists */
    char *engine;            /* "": no choice */
    clfi_row_status status;
    char *reason;         /* of FAILED and UNSUPPORTED; else NULL */
    bool is_unbuilt;      /* UNSUPPORTED because its kernels do not compile */
    bool verified;        /* the result was compared and is right */
    clfi_row_facts facts; /* without rate and percent_of_limit, which record.c computes for the file */
    size_t runs_per_sample;
    double run_seconds;              /* time of one run, when the row was verified */
    json_t *kernels;                 /* names of the kernels that one run launches; NULL: not run */
    clfi_samples wall_ms, device_ms; /* device_ms: empty if not known */
    clfi_samples round_samples;      /* number of samples of each visit, in the order of wall_ms */
    double joules, joule_runs;       /* energy of joule_runs runs; NaN: not measured */
} clfi_row;

typedef struct clfi_bench_device {
    json_t *facts; /* those of the device list; after it was opened also its energy counter and tuning */
    char *reason;  /* why it cannot be used; NULL: it can */
    clfi_child worker;
    size_t restarts; /* after a crash or a time limit */
} clfi_bench_device;

struct clfi_bench;

typedef struct clfi_bench_params {
    const char *device;   /* a selector, "all", or NULL: $CLF_DEVICE, else the default device */
    const char *left_out; /* drivers whose devices are ignored, one per line, for the record only; NULL: none. Borrowed */
    bool quick;           /* for the record only */
    bool no_tuned;        /* true: choices of clformer tune are ignored */
    uint64_t seed;        /* seed of the random order */
    double min_seconds;   /* per row, over all rounds, and ... */
    size_t min_samples;   /* ... at least this many samples */
    size_t rounds;
    double longest_run; /* seconds; a row whose single run takes longer is left out with that reason, unless it measures a limit */
    double time_limit;  /* seconds that a device may take for one answer; a visit may take the planned time in addition */
    const volatile sig_atomic_t *stop;                       /* nonzero ends the run early; NULL: never */
    void (*progress)(void *user, size_t done, size_t total); /* counts comparisons and visits; NULL: none */
    /* called with the row that is verified or measured next; NULL: none */
    void (*running)(void *user, const struct clfi_bench *bench, const clfi_row *row);
    /* called once the rows are known, after the comparisons, after every round and at the end; NULL: none */
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
    json_t *notes; /* from the list of devices: platforms without devices, or that cannot be asked */
    clfi_bench_device *devices;
    size_t device_count;
    clfi_row *rows;
    size_t row_count, row_capacity;
    bool complete; /* true: the run was not interrupted */
} clfi_bench;

/* Fills *out, which the caller frees, also after a failure. The failure of a device or of a row is kept in its place and does not end
 * the run. INVALID_ARGUMENT: no rounds or no samples. NOT_FOUND, UNSUPPORTED: choosing a device. Failures of `checkpoint` end the run.
 * An interrupted run returns OK, with complete false. */
clf_status clfi_bench_run(const clfi_workload_list *workloads, const clfi_bench_params *params, clfi_bench *out);
void clfi_bench_free(clfi_bench *bench);

#endif
