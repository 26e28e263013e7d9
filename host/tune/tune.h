/* SPDX-License-Identifier: MIT */
/* Tuning: which engine with which tile, and which of CLBlast's parameters, make a model's matrix products fastest.
 *
 * Every candidate runs in a process of its own, beside the untuned choice in the same process, turn by turn, so that what disturbs one disturbs
 * the other; its numbers are checked against float64 first. The calling process must not have used OpenCL (it forks). */
#ifndef CLFI_TUNE_TUNE_H
#define CLFI_TUNE_TUNE_H

#include <signal.h>

#include "clformer/device.h"
#include "op/tuned.h"

/* One matrix product of a model. */
typedef struct clfi_tune_product {
    clf_gemm_kind kind;
    int64_t batch, m, n, k; /* batch 1 for CLF_GEMM_LINEAR */
} clfi_tune_product;

enum { CLFI_TUNE_MAX_PRODUCTS = 48 };
typedef struct clfi_tune_products {
    clfi_tune_product items[CLFI_TUNE_MAX_PRODUCTS];
    size_t count;
} clfi_tune_products;

/* The products of the model in a directory (config.json), or of the built-in one with NULL: each projection at several numbers of rows, and the
 * two products of attention. NOT_FOUND, FORMAT, IO as for opening a model; UNSUPPORTED: a model type
 * without known projections. */
clf_status clfi_tune_model_products(const char *model_dir, clfi_tune_products *out);

/* "linear 128 x 384 x 384" */
enum { CLFI_TUNE_PRODUCT_BYTES = 80 };
const char *clfi_tune_product_text(const clfi_tune_product *product, char text[CLFI_TUNE_PRODUCT_BYTES]);

/* A candidate on one product. */
typedef struct clfi_tune_timing {
    double ratio;            /* its time by the reference's; NaN: it does not apply */
    double ns, reference_ns; /* the least over runs in turn: what else runs on the machine only ever adds time */
    char engine[24];         /* what ran */
} clfi_tune_timing;

/* What is measured: engines as CLF_ENGINE takes them ("": the table's choice), and CLBlast's parameters. */
typedef struct clfi_tune_candidate {
    char engines[128];
    const clf_gemm_engine *engine; /* NULL: the table's choice */
    clf_gemm_tile tile;
    clf_clblast_parameters clblast;
    clf_status status; /* UNSUPPORTED: not for this device; any other failure: lost, `reason` tells why */
    char reason[256];
    clfi_tune_timing timing[CLFI_TUNE_MAX_PRODUCTS];
} clfi_tune_candidate;

typedef struct clfi_tune_params {
    const char *device;               /* selector; NULL: the default */
    double minutes;                   /* after that no new candidate begins; the engines as they are come first and always */
    double candidate_seconds;         /* a candidate that takes longer is ended and lost */
    const volatile sig_atomic_t *stop; /* nonzero: give up; NULL: never */
    void (*say)(void *user, const clfi_tune_candidate *candidate, const clfi_tune_products *products); /* after each candidate; or NULL */
    void *user;
} clfi_tune_params;

/* The result. Start from zeros, release with clfi_tune_report_free. */
typedef struct clfi_tune_report {
    clf_device_info device; /* name, platform_name and driver_version alone; owned */
    size_t compared, lost;
    double noise; /* the largest factor by which measurements of one and the same choice differ */
    clf_tuning tuning;                                  /* one rule per product */
    clfi_tune_timing before[CLFI_TUNE_MAX_PRODUCTS];    /* the untuned choice */
    clfi_tune_timing after[CLFI_TUNE_MAX_PRODUCTS];     /* what was chosen, measured again with the whole set of choices in use */
} clfi_tune_report;

/* NOT_FOUND, UNSUPPORTED: no such device. DEVICE: the untuned choice itself crashed, hung, or gave wrong numbers. */
clf_status clfi_tune(const clfi_tune_params *params, const clfi_tune_products *products, clfi_tune_report *out);
void clfi_tune_report_free(clfi_tune_report *report);

#endif
