/* SPDX-License-Identifier: MIT */
/* clformer selftest: cases of every op on one device, checked against double precision on the host. */
#ifndef CLFI_CLI_SELFTEST_H
#define CLFI_CLI_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "clformer/tensor.h"
#include "tensor/view.h"

/* One running test: random numbers, and the worst element so far. */
typedef struct selftest {
    clf_context *context;
    uint64_t random;
    double worst_error, worst_bound; /* of the element with the largest error / bound */
    bool failed;
} selftest;

/* Reproducible values: uniform in [low, high), the same on every device and machine. */
void selftest_fill(selftest *test, float *out, size_t count, float low, float high);

/* One element; NaN passes only where NaN is wanted. */
void selftest_check(selftest *test, double got, double want, double bound);

/* A float32 tensor of random values, and its host copy (the caller frees both). */
clf_status selftest_tensor(selftest *test, int rank, const int64_t *dim, float low, float high, clf_tensor **tensor, float **host);

/* The tensors of one case with their host copies, released together. */
enum { SELFTEST_OPERANDS = 8 };

typedef struct selftest_operands {
    clf_tensor *tensor[SELFTEST_OPERANDS];
    float *host[SELFTEST_OPERANDS];
    int count;
} selftest_operands;

/* Adds a random tensor; its place is the count before. low and high NaN: filled with NaN, for results. */
clf_status selftest_add(selftest *test, selftest_operands *operands, int rank, const int64_t *dim, float low, float high);
const clf_view *selftest_view(const selftest_operands *operands, int i);
clf_status selftest_read(selftest_operands *operands, int i); /* host copy of tensor i, fresh from the device */
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
