/* SPDX-License-Identifier: MIT */
/* clformer selftest: cases of every op on one device, checked against double precision on the host. */
#ifndef CLFI_CLI_SELFTEST_H
#define CLFI_CLI_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/view.h"
#include "workload/operand.h"

/* One running test: random numbers, and the worst element so far. */
typedef struct selftest {
    clf_context *context;
    clfi_random random;
    double worst_error, worst_bound; /* of the element with the largest error / bound */
    bool failed;
} selftest;

/* One element; NaN passes only where NaN is wanted. */
void selftest_check(selftest *test, double got, double want, double bound);

/* Every element of a result that was read, within its bound and one rounding to float32. */
void selftest_check_all(selftest *test, const clfi_operand *got, const double *want, const double *bound);

/* The operands of one case, released together. */
enum { SELFTEST_OPERANDS = 8 };

typedef struct selftest_operands {
    clfi_operand operand[SELFTEST_OPERANDS];
    int count;
} selftest_operands;

/* Adds an operand of random values, uniform in [low, high) and the same on every device and machine, or a result; its place is the count
 * before. */
clf_status selftest_add(selftest *test, selftest_operands *operands, int rank, const int64_t *dim, float low, float high);
clf_status selftest_add_result(selftest *test, selftest_operands *operands, int rank, const int64_t *dim);
const clf_view *selftest_view(const selftest_operands *operands, int i);
void selftest_free(selftest_operands *operands);

/* Case functions of each op: enqueue, read back, compare. */
clf_status selftest_gemm(selftest *test);
clf_status selftest_einsum(selftest *test);
clf_status selftest_permute(selftest *test);
clf_status selftest_activation(selftest *test);
clf_status selftest_layer_norm(selftest *test);
clf_status selftest_rms_norm(selftest *test);
clf_status selftest_l2_normalize(selftest *test);
clf_status selftest_softmax(selftest *test);
clf_status selftest_log_softmax(selftest *test);
clf_status selftest_attention(selftest *test);
clf_status selftest_scoring(selftest *test);
clf_status selftest_dropout(selftest *test);
clf_status selftest_cached_attention(selftest *test);
clf_status selftest_embedding(selftest *test);
clf_status selftest_pool(selftest *test);
clf_status selftest_top_k(selftest *test);
clf_status selftest_encoder(selftest *test);
clf_status selftest_encoder_decoder(selftest *test);
clf_status selftest_beam_search(selftest *test);

#endif
