/* SPDX-License-Identifier: MIT */
/* Checks linear layers with any weights against double precision. */
#ifndef CLF_TEST_LINEAR_CHECK_H
#define CLF_TEST_LINEAR_CHECK_H

#include "clformer/linear.h"
#include "support/operand.h"

typedef struct linear_check {
    const char *id;
    int64_t m, n, k;
    const double *weight, *bias; /* [k, n], [n] */
    layout x, y;
    clf_dtype y_type;
    clf_activation activation;
    bool has_residual;
    bool is_spoiled;                       /* two rows of x hold a NaN and an infinity, and so do two of the residual */
    int64_t column_block;                  /* 0: y is [m, n] */
    clf_precision precision;               /* precision of the layer's product */
    double slack;                          /* factor on the bound of products with float32 weights */
    void (*round)(operand *x, float most); /* rounds x as the layer does before it multiplies; NULL: the layer does not */
    float most;
} linear_check;

/* Runs the layer on random rows, with a random residual, and compares every result. */
void linear_check_run(clf_context *context, const clf_linear *linear, const linear_check *c, rng *r);

#endif
