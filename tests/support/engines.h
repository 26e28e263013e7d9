/* SPDX-License-Identifier: MIT */
/* Helps tests to run on every engine of an op, which they take from the table of engines. */
#ifndef CLF_TEST_ENGINES_H
#define CLF_TEST_ENGINES_H

#include "op/engines.h"

/* Every engine of an op as a context takes it ("softmax=group"), ended by NULL. If CLF_ENGINE forces an engine of the op
 * ("gemm=tiled:item_m=8"), only that one, with its tile. Valid until the next call for the same op. */
const char *const *engines_of(clf_op op);

/* The same for two ops that share their engines: "rms_norm=group,l2_normalize=group". */
const char *const *engines_of_both(clf_op op, clf_op other);

/* Runs `test` as a cmocka group, once for the default choice of a matrix product and once for each engine. *state: the engine as a
 * context takes it, "" or "gemm=packed". Returns the number of failures. */
int run_gemm_engine_tests(const char *group, void (*test)(void **state));

/* A context with that engine of matrix products forced, at the precision that the engine keeps ("": highest). gemm_engine_context skips
 * the running test if the engine does not run on the device. */
clf_context *gemm_context(const char *engine);
clf_context *gemm_engine_context(const char *engine);

/* gemm_engine_context for CLBlast, whose products are all beyond the budget of a launch, so that it computes them in pieces. */
clf_context *clblast_pieces_context(void);

/* A context with that engine of attention forced ("attention=group"), at the precision that the engine keeps. */
clf_context *attention_context(const char *engine);

/* Whether the engine forced in the context handles only special cases: it may refuse others (UNSUPPORTED). An engine that takes a plain
 * product of two contiguous matrices must take every case. */
bool gemm_engine_is_special(const clf_context *context);

/* Checks how many cases an engine of attention, as engines_of() names it, ran on the context's device. An engine whose kernels are not
 * for the device must run none. `vector`, whose kernels are for CPUs, must run none on a GPU or a software rasterizer. Every other
 * engine must run at least one. */
void check_attention_ran(const clf_context *context, const char *engine, size_t run);

#endif
