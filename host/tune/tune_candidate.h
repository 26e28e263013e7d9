/* SPDX-License-Identifier: MIT */
/* The products that the tuner measures, and the candidates that it tries on them. */
#ifndef CLFI_TUNE_TUNE_CANDIDATE_H
#define CLFI_TUNE_TUNE_CANDIDATE_H

#include "op/tuned.h"

/* One matrix product of a model. */
typedef struct clfi_tune_product {
    clf_gemm_kind kind;
    int64_t batch, m, n, k; /* batch 1 for CLF_GEMM_LINEAR */
} clfi_tune_product;

/* Two stacks with nine weights each (of two shapes of attention, of attention to a source, of the feed-forward network) at each number of
 * rows, and three products of each shape. */
enum { CLFI_TUNE_ROW_COUNTS = 4, CLFI_TUNE_MAX_PRODUCTS = 2 * (9 * CLFI_TUNE_ROW_COUNTS + 2 * 3) };
typedef struct clfi_tune_products {
    clfi_tune_product items[CLFI_TUNE_MAX_PRODUCTS];
    size_t count;
} clfi_tune_products;

/* "linear 128 x 384 x 384" */
enum { CLFI_TUNE_PRODUCT_BYTES = 80 };
const char *clfi_tune_product_text(const clfi_tune_product *product, char text[CLFI_TUNE_PRODUCT_BYTES]);

/* A candidate on one product. */
typedef struct clfi_tune_timing {
    double ratio;    /* its time by the reference's; NaN: it does not apply */
    double ns;       /* the least over runs in turn: what else runs on the machine only ever adds time */
    char engine[24]; /* what ran */
} clfi_tune_timing;

/* A candidate: engines as CLF_ENGINE takes them ("": the table's choice), and CLBlast's parameters. */
typedef struct clfi_tune_candidate {
    char engines[128];
    const clf_engine *engine; /* NULL: the table's choice */
    clf_tile tile;
    clf_clblast_parameters clblast;
    clf_status status; /* UNSUPPORTED: not for this device; any other failure: lost, `reason` tells why */
    char reason[256];
    clfi_tune_timing timing[CLFI_TUNE_MAX_PRODUCTS];
} clfi_tune_candidate;

#endif
