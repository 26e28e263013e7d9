/* SPDX-License-Identifier: MIT */
/* Workloads of the self-test that are one function each. Such a function enqueues cases of an op or of a small network, reads them back
 * and compares them with double precision on the host. The self-test covers every op; its sizes are too small to be worth timing. */
#ifndef CLFI_WORKLOAD_SELFTEST_H
#define CLFI_WORKLOAD_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/view.h"
#include "workload/op_run.h"
#include "workload/verdict.h"

/* One running self-test: random numbers, the same on every device and machine, and the worst element so far. */
typedef struct clfi_selftest {
    clf_context *context;
    clfi_random random;
    clfi_verdict verdict;
} clfi_selftest;

typedef clf_status (*clfi_selftest_function)(clfi_selftest *test);

/* Adds every element of a result that was read: each must lie within its bound plus one rounding to float32. */
void clfi_selftest_all(clfi_selftest *test, const clfi_operand *got, const double *want, const double *bound);

/* The operands of one case, released together. */
enum { CLFI_SELFTEST_OPERANDS = 8 };

typedef struct clfi_selftest_operands {
    clfi_operand operand[CLFI_SELFTEST_OPERANDS];
    int count;
} clfi_selftest_operands;

/* Add an operand of random values, uniform in [low, high), or a result. Its index is operands->count before the call. clfi_selftest_free
 * releases it, also after a failure. */
clf_status clfi_selftest_add(clfi_selftest *test, clfi_selftest_operands *operands, int rank, const int64_t *dim, float low, float high);
clf_status clfi_selftest_add_result(clfi_selftest *test, clfi_selftest_operands *operands, int rank, const int64_t *dim);
const clf_view *clfi_selftest_view(const clfi_selftest_operands *operands, int i);
void clfi_selftest_free(clfi_selftest_operands *operands);

clf_status clfi_selftest_activation(clfi_selftest *test);
clf_status clfi_selftest_l2_normalize(clfi_selftest *test);
clf_status clfi_selftest_log_softmax(clfi_selftest *test);
clf_status clfi_selftest_dropout(clfi_selftest *test);
clf_status clfi_selftest_embedding(clfi_selftest *test);
clf_status clfi_selftest_pool(clfi_selftest *test);
clf_status clfi_selftest_top_k(clfi_selftest *test);
clf_status clfi_selftest_search(clfi_selftest *test);
clf_status clfi_selftest_scoring(clfi_selftest *test);
clf_status clfi_selftest_packed_attention(clfi_selftest *test);
clf_status clfi_selftest_cached_attention(clfi_selftest *test);
clf_status clfi_selftest_encoder(clfi_selftest *test);
clf_status clfi_selftest_encoder_decoder(clfi_selftest *test);
clf_status clfi_selftest_beam_search(clfi_selftest *test);
clf_status clfi_selftest_rotary(clfi_selftest *test);
clf_status clfi_selftest_decoder(clfi_selftest *test);
clf_status clfi_selftest_feed_forward(clfi_selftest *test);
clf_status clfi_selftest_soft_cap(clfi_selftest *test);
clf_status clfi_selftest_row_check(clfi_selftest *test);
clf_status clfi_selftest_exp_sum(clfi_selftest *test);

/* Appends a workload for each of these functions. */
clf_status clfi_selftest_workloads(clfi_workload_list *list);

#endif
