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

/* A model has at most two stacks. Each has at most nine weights, which are measured at each number of rows: two for each of two shapes of
 * attention, three for attention to a source, two of the feed-forward network. Each shape of attention has three products more. */
enum { CLFI_TUNE_ROW_COUNTS = 4, CLFI_TUNE_MAX_PRODUCTS = 2 * (9 * CLFI_TUNE_ROW_COUNTS + 2 * 3) };
typedef struct clfi_tune_products {
    clfi_tune_product items[CLFI_TUNE_MAX_PRODUCTS];
    size_t count;
} clfi_tune_products;

/* Writes KIND BATCH x M x N x K into text and returns it, without the batch for a weight: "linear 128 x 384 x 384". */
enum { CLFI_TUNE_PRODUCT_BYTES = 80 };
const char *clfi_tune_product_text(const clfi_tune_product *product, char text[CLFI_TUNE_PRODUCT_BYTES]);

/* The time of a candidate on one product. */
typedef struct clfi_tune_timing {
    double ratio;    /* its time divided by the reference's; NaN: the candidate does not apply to the product */
    double ns;       /* time of one run, the least of several: other work on the machine can only add time */
    char engine[24]; /* the engine that ran */
} clfi_tune_timing;

/* An engine with a tile and with CLBlast's parameters, and its results on all products. */
typedef struct clfi_tune_candidate {
    char engines[128];        /* as CLF_ENGINE takes them; "": the table's choice */
    const clf_engine *engine; /* NULL: the table's choice */
    clf_tile tile;
    clf_clblast_parameters clblast;
    clf_status status; /* UNSUPPORTED: not for this device; any other failure: it is lost, and `reason` says why */
    char reason[256];
    clfi_tune_timing timing[CLFI_TUNE_MAX_PRODUCTS];
} clfi_tune_candidate;

#endif
