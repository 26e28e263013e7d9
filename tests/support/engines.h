/* SPDX-License-Identifier: MIT */
/* Tests that run on every engine of an op: the table says which there are. */
#ifndef CLF_TEST_ENGINES_H
#define CLF_TEST_ENGINES_H

#include "op/engines.h"

/* Every engine of an op as a context takes it ("softmax=group"), ended by NULL; where CLF_ENGINE forces engines of the op
 * ("gemm=tiled:item_m=8"), that one alone, with its tile. Valid until the next call for the same op. */
const char *const *engines_of(clf_op op);

/* The same for two ops at once that share their engines: "rms_norm=group,l2_normalize=group". */
const char *const *engines_of_both(clf_op op, clf_op other);

/* Runs `test` as a cmocka group, once for the default choice of a matrix product and once for each engine: *state is what a context takes,
 * "" or "gemm=packed". Returns the failures. */
int run_gemm_engine_tests(const char *group, void (*test)(void **state));

/* A context with that engine of matrix products forced, at the precision that it keeps ("": highest); in the second the running test is
 * skipped where the engine leaves the device alone. */
clf_context *gemm_context(const char *engine);
clf_context *gemm_engine_context(const char *engine);

/* A context with that engine of attention forced, at the precision that it keeps: "attention=group". */
clf_context *attention_context(const char *engine);

/* Whether the engine forced in the context is one for special cases alone: it may refuse others (UNSUPPORTED). One that takes a plain
 * product of two contiguous matrices has to take every case. */
bool gemm_engine_is_special(const clf_context *context);

/* Checks how many cases an engine of attention, as engines_of() names it, ran on the context's device. One whose kernels are not made for
 * the device runs none, and so does `vector`, whose kernels are for CPUs, on a GPU or a software rasterizer. Every other runs at least
 * one. */
void check_attention_ran(const clf_context *context, const char *engine, size_t run);

#endif
