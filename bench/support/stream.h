/* SPDX-License-Identifier: MIT */
/* The bandwidth limit of a row op: kernels of the benchmark's own that only move the same tensors' memory. */
#ifndef CLF_BENCH_STREAM_H
#define CLF_BENCH_STREAM_H

#include "clformer/tensor.h"

typedef struct bench_stream bench_stream;

bench_stream *bench_stream_create(clf_context *context);
void bench_stream_destroy(bench_stream *stream);

/* Enqueues y = x, or y = x + residual (NULL: none), over dense float32 tensors whose size is a multiple of 16. */
void bench_stream_run(bench_stream *stream, const clf_tensor *x, const clf_tensor *residual, const clf_tensor *y);

#endif
