/* SPDX-License-Identifier: MIT */
/* Matrix product on the best engine for the case. */
#ifndef CLFI_OP_GEMM_H
#define CLFI_OP_GEMM_H

#include "base/str.h"
#include "kernel/gemm.h"

/* One row of the table in op/engines.c. An engine owns how it packs a constant B, which form of A it wants, and its launch. */
typedef struct clf_gemm_engine {
    const char *name;
    clf_gemm_form weight_form;
    clf_gemm_activation_form activation_form;
    unsigned precisions; /* bit 1 << clf_precision for each that it keeps */
    /* A constant B into weight_form, once at load. */
    clf_status (*pack)(clf_context *context, const clf_gemm_tile *tile, int parts, const clf_view *weights, const clf_view *biases,
                       clf_gemm_weight *out);
    bool (*supports)(const clf_context *context, const clf_gemm_args *args);
    bool (*suits)(const clf_context *context, const clf_gemm_args *args); /* the choice on devices that were not measured */
    clf_status (*run)(clf_context *context, const clf_gemm_args *args);
    const clf_gemm_tiling *tiling; /* what its kernels can be built with; NULL: no choice */
} clf_gemm_engine;

/* An engine and the tile for its kernels. */
typedef struct clf_gemm_choice {
    const clf_gemm_engine *engine;
    clf_gemm_tile tile;
} clf_gemm_choice;

/* op/engines.c */
extern const clf_gemm_engine clfi_gemm_engines[];
extern const size_t clfi_gemm_engine_count;

/* The row of that name, NULL when there is none. */
const clf_gemm_engine *clfi_gemm_engine_find(const char *name);

/* Sets one parameter of a tile for an engine. INVALID_ARGUMENT: the engine has no such parameter, or no kernels for that value. */
clf_status clfi_gemm_tile_set(const clf_gemm_engine *engine, const char *parameter, int64_t value, clf_gemm_tile *tile);

/* Whether the engine's kernels with this tile can run on the device. */
bool clfi_gemm_tile_fits(const clf_context *context, const clf_gemm_engine *engine, const clf_gemm_tile *tile);

/* "packed:rows=6:vectors=2": an engine and those parameters of its tile that are not its own choice, as CLF_ENGINE takes them after "gemm=". */
clf_status clfi_gemm_choice_text(const clf_gemm_engine *engine, const clf_gemm_tile *tile, clf_str *out);

/* The row for this case and its tile: the forced one (UNSUPPORTED when it cannot do it, INVALID_ARGUMENT when there is none of that name, or no
 * such tile), else what was measured for this device (op/tuned.h), else the first that suits, else the first that can. Only rows that keep
 * the context's precision. */
clf_status clfi_gemm_choose(const clf_context *context, const clf_gemm_args *args, clf_gemm_choice *out);

/* The row whose form constant weights are packed in: the forced one, else the choice for a product of 128 rows. */
clf_status clfi_gemm_choose_form(const clf_context *context, int64_t n, int64_t k, clf_gemm_choice *out);

/* See clf_gemm_args. k = 0 gives f(bias) + residual; any of m, n or a batch size 0 launches nothing. Enqueued; temporary memory comes from the
 * context's arena. INVALID_ARGUMENT: sizes, dtypes, strides. UNSUPPORTED: no engine (a forced one) can do it. */
clf_status clfi_gemm(clf_context *context, const clf_gemm_args *args);

/* Name of the engine that clfi_gemm would use, for plans and reports. */
clf_status clfi_gemm_engine_name(const clf_context *context, const clf_gemm_args *args, const char **out);

#endif
