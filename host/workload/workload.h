/* SPDX-License-Identifier: MIT */
/* A workload: one piece of work that can be prepared, verified and then timed on any device. The catalogue of workloads is shared by
 * `clformer bench`, the programs of bench/ and the tests, so that what is timed is what is tested. */
#ifndef CLFI_WORKLOAD_WORKLOAD_H
#define CLFI_WORKLOAD_WORKLOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "clformer/context.h"

#define CLFI_ENGINE_MAX 12

/* Engines that can run a workload on a device; a single "" if there is no choice. Names are string constants. */
typedef struct clfi_engine_list {
    const char *names[CLFI_ENGINE_MAX];
    size_t count;
} clfi_engine_list;

/* Times of one run, in nanoseconds. */
typedef struct clfi_sample {
    double wall_ns;   /* host time from the first enqueue until the result is available */
    double device_ns; /* sum of the kernels' event times; below 0: not known */
} clfi_sample;

/* The comparison of a result with the host's float64 reference. passed is false for NaN. */
typedef struct clfi_verdict {
    double error, bound; /* the worst over all elements, in the units that the workload's type documents */
    bool passed;
    double cosine; /* lowest cosine between an embedding and the reference's; 0: the results are no embeddings */
} clfi_verdict;

/* Device memory of a prepared workload. Scratch is all that its runs use beyond weights and operands. */
typedef struct clfi_workload_memory {
    size_t weights_bytes; /* in the form given to the op, or as the model's file has them */
    size_t operand_bytes; /* operands and results */
    size_t peak_bytes;    /* of the latest run, if it has a context of its own; else 0 */
} clfi_workload_memory;

typedef struct clfi_workload clfi_workload;
typedef struct clfi_workload_list clfi_workload_list;

/* How a kind of workload is prepared, verified and run. Every function forwards the library's errors. */
typedef struct clfi_workload_type {
    clf_status (*engines)(const clfi_workload *workload, clf_context *context, clfi_engine_list *out);
    /* Prepares random data from the workload's seed, never zeros. *state is NULL before the call. The caller releases it, also after a
     * failure. */
    clf_status (*prepare)(const clfi_workload *workload, clf_context *context, const char *engine, void **state);
    clf_status (*verify)(void *state, clfi_verdict *out);
    clf_status (*run)(void *state, clfi_sample *out); /* one run; waits for the device */
    /* Called after a run. NULL: there are no weights, and all memory that is held between runs is operands and results. */
    void (*memory)(const void *state, clfi_workload_memory *out);
    void (*release)(void *state); /* accepts NULL */
} clfi_workload_type;

struct clfi_workload {
    char id[96];         /* unique and stable, for example "gemm/f32/m128-n384-k384"; names neither engine nor device */
    const char *suite;   /* "peak", "ops", "models" or "generation" */
    const char *op;      /* the table it belongs to: "gemm", "masked_softmax", "bandwidth", "encoder" */
    json_t *work;        /* owned: all that makes two measurements the same work: shapes, types, seed, masks, model hash, lengths */
    double flops, bytes; /* arithmetic operations and bytes that must move, per run; 0: not counted */
    double items;        /* number of things that `item` names, per run; 0 if it is NULL */
    const char *item;    /* "texts", "words", NULL */
    const char *limit;   /* key of the limit of the device that it is compared with: "fp32_gflops", "copy_gbps"; NULL: none. The limit is
                            measured by workloads whose work object has this key as "measures" */
    const char *const *off_device;        /* what the host does in a run, "tokenizing" and the like, ended by NULL; NULL: nothing */
    const struct clf_engine_table *table; /* the engines that an op chooses from; NULL: there is no choice */
    const clfi_workload_type *type;
    clf_status (*peer)(const clfi_workload *workload, clfi_workload_list *list); /* appends the workload measured alternately with
                                                                                    this one: the simplest work that moves as many bytes
                                                                                    or does as many operations, as a copy or a plain
                                                                                    product. NULL: nothing */
    void *parameters;                                                            /* owned, released with free(); NULL: none */
};

/* `engines` of workloads without a choice. */
clf_status clfi_workload_one_engine(const clfi_workload *workload, clf_context *context, clfi_engine_list *out);

/* Prepares, verifies and releases the workload. engine "": the context chooses. Forwards the library's errors. */
clf_status clfi_workload_verify(const clfi_workload *workload, clf_context *context, const char *engine, clfi_verdict *out);

/* A growing list that owns its workloads. */
struct clfi_workload_list {
    clfi_workload *items;
    size_t count, capacity;
};

/* Takes over workload->work and workload->parameters, also on failure. OUT_OF_MEMORY. */
clf_status clfi_workload_list_add(clfi_workload_list *list, const clfi_workload *workload);
void clfi_workload_list_free(clfi_workload_list *list);

/* The catalogue, suite by suite. Each function appends to the list; `quick` keeps a few small workloads of each op. */
clf_status clfi_peak_workloads(clfi_workload_list *list, bool quick);
clf_status clfi_op_workloads(clfi_workload_list *list, bool quick);
clf_status clfi_model_workloads(clfi_workload_list *list, const char *model_dir, bool quick); /* model_dir NULL: the built-in model alone */

/* The suite "generation". model: a hub directory or a GGUF file of a language model; NULL: models with random weights, of the shapes of
 * Llama 3.2 1B and Qwen3 0.6B. If `quick`, or if this machine has too little memory, small models take their place. UNSUPPORTED: another
 * kind of model. */
clf_status clfi_generation_workloads(clfi_workload_list *list, const char *model, bool quick);

enum { CLFI_GENERATION_LARGE_GB = 6 }; /* memory that this machine needs for the large models: their numbers, a copy for a device, the
                                          reference */
bool clfi_generation_has_memory(void);

/* *out: whether the model belongs to the suite "generation", else to "models". Forwards failures of reading its configuration. */
clf_status clfi_model_generates(const char *path, bool *out);

/* The limit of a device that a workload measures; NULL: none. */
const char *clfi_workload_measures(const clfi_workload *workload);

/* The catalogue of the self-test: shapes that fit no tile, for every engine of every op, and networks of a few layers. They are too
 * small to be worth timing. */
clf_status clfi_small_workloads(clfi_workload_list *list);

#endif
