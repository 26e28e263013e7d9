/* SPDX-License-Identifier: MIT */
/* Operands of op tests: a tensor in one of several memory layouts inside a larger one. Every byte of an output is UNWRITTEN, so that an
 * element that was not written shows, also where NaN is wanted; what surrounds the values of an input is NaN. A write outside the view
 * breaks the fence. */
#ifndef CLF_TEST_OPERAND_H
#define CLF_TEST_OPERAND_H

#include <stdbool.h>

#include "clformer/tensor.h"
#include "support/rng.h"

enum { UNWRITTEN = 0x7b }; /* a byte that makes a large finite number in every float type */

typedef enum layout {
    LAYOUT_CONTIGUOUS,
    LAYOUT_SLICED,   /* gaps after every axis */
    LAYOUT_SWAPPED,  /* first two axes exchanged in memory; last axis adjacent when there are three */
    LAYOUT_REVERSED, /* axes in the opposite order in memory: the last has the largest stride */
    LAYOUT_COUNT
} layout;

typedef struct operand {
    clf_tensor *base;      /* everything, rank 1 */
    clf_tensor *tensor;    /* the view under test */
    unsigned char outside; /* every byte of `base` outside the view */
    size_t count;
    double *value; /* what the view holds (after operand_fill or operand_read), in C order */
} operand;

const char *layout_name(layout l);

operand operand_create(clf_context *context, clf_dtype dtype, layout l, int rank, const int64_t *dim);
void operand_spoil(operand *o);   /* as it was created, before another run writes it */
void operand_destroy(operand *o); /* an operand of zeros is accepted */

/* Stores the values, rounded to the dtype; `value` is what came out. */
void operand_fill(operand *o, const float *values);
void operand_fill_uniform(operand *o, rng *r, float low, float high);
void operand_fill_ids(operand *o, const int32_t *values);
void operand_fill_bytes(operand *o, const unsigned char *values); /* u8 */

/* Reads the view into `value` and checks the fence; `id` names the case. */
void operand_read(operand *o, const char *id);

/* An operand of u8 in which one byte of `of` is 0 and the others are anything else, at random. */
operand operand_random_mask(clf_context *context, rng *r, layout l, int rank, const int64_t *dim, unsigned of);

/* After operand_read: `count` elements from `first` on are as near to want as bound and the rounding to the stored type allow. */
void operand_check(const operand *o, size_t first, size_t count, const double *want, const double *bound, const char *id);

/* Bound of rounding a number of this magnitude to the stored type (half a unit in its last place, or flushing below its normal range). */
double operand_rounding(clf_dtype dtype, double magnitude);

/* True when the environment asks for tiny cases only (CLF_TEST_SMALL=1, for interpreters). */
bool only_small_cases(void);

/* Bytes of a long text: a million, an eighth of it with CLF_TEST_SMALL=1, because sanitizers take five times as long. */
size_t long_text_bytes(void);

/* Whether a test runs case `index` of its list. A small one always runs, another unless only small ones are asked for. With
 * CLF_TEST_SHARE=1-3/4 the second to fourth of every four run, with 0-0/4 the others, so that implementations tested one after another
 * share a list. */
bool takes_case(size_t index, bool is_small);

/* A context on the device under test with engines forced; fails the test when there is none. */
clf_context *engine_context(const char *engines);
clf_context *precise_context(const char *engines, clf_precision precision); /* whose products keep that precision */

#endif
