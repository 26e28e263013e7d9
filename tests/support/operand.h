/* SPDX-License-Identifier: MIT */
/* Operands for tests of ops: a tensor in one of several memory layouts, as a view into a larger one.
 *
 * Every byte of an output is UNWRITTEN before the op runs, so that a missing element is noticed even if NaN is wanted. Elements around
 * the values of an input are NaN. operand_read reports writes outside the view. */
#ifndef CLF_TEST_OPERAND_H
#define CLF_TEST_OPERAND_H

#include <stdbool.h>

#include "clformer/tensor.h"
#include "support/rng.h"

enum { UNWRITTEN = 0x7b }; /* this byte, repeated, is a large finite number in every float type */

typedef enum layout {
    LAYOUT_CONTIGUOUS,
    LAYOUT_SLICED,   /* gaps after every axis */
    LAYOUT_SWAPPED,  /* first two axes exchanged in memory; last axis adjacent when there are three */
    LAYOUT_REVERSED, /* memory order of the axes reversed: the last has the largest stride */
    LAYOUT_COUNT
} layout;

typedef struct operand {
    clf_tensor *base;      /* the whole memory, rank 1 */
    clf_tensor *tensor;    /* the view under test */
    unsigned char outside; /* expected value of every byte of `base` outside the view */
    size_t count;
    double *value; /* elements of the view in C order, after operand_fill or operand_read */
} operand;

const char *layout_name(layout l);

operand operand_create(clf_context *context, clf_dtype dtype, layout l, int rank, const int64_t *dim);
void operand_spoil(operand *o);   /* resets it to UNWRITTEN before another run writes it */
void operand_destroy(operand *o); /* an operand of zeros is accepted */

/* Stores the values, rounded to the dtype; `value` then has the rounded ones. */
void operand_fill(operand *o, const float *values);
void operand_fill_uniform(operand *o, rng *r, float low, float high);
void operand_fill_ids(operand *o, const int32_t *values);
void operand_fill_bytes(operand *o, const unsigned char *values); /* u8 */

/* Reads the view into `value` and checks that nothing outside it was written; `id` names the case. */
void operand_read(operand *o, const char *id);

/* An operand of u8 in which about one byte in `of` is 0; the others are random nonzero bytes. */
operand operand_random_mask(clf_context *context, rng *r, layout l, int rank, const int64_t *dim, unsigned of);

/* After operand_read: checks that `count` elements from `first` on differ from want by at most bound plus the rounding to the stored
 * type. */
void operand_check(const operand *o, size_t first, size_t count, const double *want, const double *bound, const char *id);

/* Bound of rounding a number of this magnitude to the stored type: half a unit in its last place, or flushing below its normal range. */
double operand_rounding(clf_dtype dtype, double magnitude);

/* Whether the environment asks for tiny cases only (CLF_TEST_SMALL=1, for interpreters). */
bool only_small_cases(void);

/* Size of a long text in bytes: a million, or an eighth of that with CLF_TEST_SMALL=1, because sanitizers take five times as long. */
size_t long_text_bytes(void);

/* Whether a test runs case `index` of its list. Small cases always run, others unless only small ones are asked for. Tests of several
 * implementations can share a list: with CLF_TEST_SHARE=1-3/4 the second to fourth of every four cases run, with 0-0/4 the first. */
bool takes_case(size_t index, bool is_small);

/* A context on the device under test with engines forced; fails the test if there is no device. */
clf_context *engine_context(const char *engines);
clf_context *precise_context(const char *engines, clf_precision precision); /* products keep that precision */

#endif
