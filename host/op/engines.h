/* SPDX-License-Identifier: MIT */
/* Engines: the implementations that an op can run on, one table per op, and the choice among them. */
#ifndef CLFI_OP_ENGINES_H
#define CLFI_OP_ENGINES_H

#include <stdbool.h>

#include "base/str.h"
#include "kernel/gemm.h"
#include "kernel/tile.h"
#include "runtime/probe.h"

/* One row. args is the op's own argument struct. */
typedef struct clf_engine {
    const char *name;
    clf_precision precision; /* that its products keep: a context that asks for that or less may use it, one that asks for more may not */
    bool (*runs_on)(const clf_device_caps *caps); /* whether the device has what every kernel of the row needs; NULL: any device has */
    clf_probe probe; /* test that the device must pass before the row is used (runtime/probe.h); runs after all other checks */
    bool (*supports)(const clf_context *context, const void *args); /* whether the row can run this case; pure and cheap */
    bool (*pays)(const clf_context *context); /* whether measured rates allow choosing a row that is not forced; NULL: yes */
    bool (*suits)(const clf_context *context, const void *args); /* whether an untuned device prefers the row here; NULL: always */
    clf_status (*run)(clf_context *context, const void *args);   /* enqueues */
    uint64_t (*scratch)(const clf_gemm_args *args); /* rows of CLF_OP_GEMM: bytes of the arena for a product with packed weights; NULL: 0 */
    const clf_tiling *tiling;                       /* what its kernels can be built with; NULL: no choice */
    const clf_gemm_traits *gemm;                    /* rows of CLF_OP_GEMM: the forms of weights that they read and pack */
    bool shares_keys;     /* rows of CLF_OP_ATTENTION: work-items share keys, so that up to 64 queries to a tile pay */
    const char *accuracy; /* of rows that keep less than the highest precision: what was measured, for people */
} clf_engine;

/* Ops that have engines. */
typedef enum clf_op {
    CLF_OP_GEMM,
    CLF_OP_SOFTMAX,
    CLF_OP_LOG_SOFTMAX,
    CLF_OP_LAYER_NORM,
    CLF_OP_RMS_NORM,
    CLF_OP_L2_NORMALIZE,
    CLF_OP_ATTENTION,
    CLF_OP_CACHED_ATTENTION,
    CLF_OP_EMBEDDING,
    CLF_OP_POOL,
    CLF_OP_TOP_K,
    CLF_OP_COUNT
} clf_op;

typedef struct clf_engine_table {
    const char *op; /* the name before '=' in CLF_ENGINE */
    const clf_engine *engines;
    size_t count;
    bool has_products; /* sums of products, which keep a precision (clf_context_stats.product_precisions) */
} clf_engine_table;

/* op/engines.c: every engine of every op. */
extern const clf_engine_table clfi_engine_tables[CLF_OP_COUNT];

/* An engine and the tile for its kernels. */
typedef struct clf_engine_choice {
    const clf_engine *engine;
    clf_tile tile;
} clf_engine_choice;

/* The row of that name; NULL when there is none. */
const clf_engine *clfi_engine_find(clf_op op, const char *name);

/* Whether the row's kernels are made for such a device. */
bool clfi_engine_is_for(const clf_engine *engine, const clf_device_caps *caps);

/* Whether the row keeps the context's precision, can run the case, is not left out, and the device passed its probe. */
bool clfi_engine_is_able(const clf_context *context, const clf_engine *engine, const void *args);

/* Whether the row may be chosen on this device by the table or a measurement. A forced row runs anyway. */
bool clfi_engine_pays(const clf_context *context, const clf_engine *engine);

/* The reason, in words, why an engine takes no case on this context; NULL: none. */
const char *clfi_engine_obstacle(const clf_context *context, const clf_engine *engine);

/* The row for this case and its tile. It is the forced one, else `measured` (NULL: nothing was measured) if that row pays and can run the
 * case. Else it is the first such row that suits, or the first of them. UNSUPPORTED: the forced row cannot run it, or no row can. Also the
 * statuses of clfi_engine_forced. */
clf_status clfi_engine_choose(const clf_context *context, clf_op op, const void *args, const clf_engine_choice *measured,
                              clf_engine_choice *out);

/* Runs the row that clfi_engine_choose names. For ops whose rows have no tiles. */
clf_status clfi_engine_run(clf_context *context, clf_op op, const void *args);

/* The engine and tile that the context forces for an op by its list of engines, "op=name:parameter=value,op=name"; engine NULL: none.
 * INVALID_ARGUMENT: the list is malformed, the engine or its tile unknown. UNSUPPORTED: the tile does not fit the device. */
clf_status clfi_engine_forced(const clf_context *context, clf_op op, clf_engine_choice *out);

/* Fails as clfi_engine_forced would for any op, so that a wrong name is reported although the op never runs. */
clf_status clfi_engines_check(const clf_context *context);

/* Sets one parameter of a tile for an engine. INVALID_ARGUMENT: the engine has no such parameter, or no kernels for that value. */
clf_status clfi_engine_tile_set(const clf_engine *engine, const char *parameter, int64_t value, clf_tile *tile);

/* Whether the engine's kernels with this tile can run on the device. */
bool clfi_engine_tile_fits(const clf_context *context, const clf_engine *engine, const clf_tile *tile);

/* "packed:rows=6:vectors=2": an engine and those parameters of its tile that are not its own choice, as CLF_ENGINE takes them after
 * "op=". */
clf_status clfi_engine_choice_text(const clf_engine *engine, const clf_tile *tile, clf_str *out);

#endif
