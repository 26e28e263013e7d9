/* SPDX-License-Identifier: MIT */
/* Ops on tensors: normalisation, embeddings, pooling, selection. They are enqueued on the context's queue and return at once unless their
 * comment says otherwise; reading a tensor waits. Inputs are never modified, unless the comment allows the output to be the input. "Any
 * strides" of an output are those of clformer.h: none is 0 along an axis of several elements. */
#ifndef CLFORMER_OPS_H
#define CLFORMER_OPS_H

#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Normalisation ---- */

typedef struct clf_layer_norm_params {
    size_t size;                /* sizeof(clf_layer_norm_params) */
    const clf_tensor *residual; /* NULL: none; else the shape of x */
    const clf_tensor *gamma;    /* NULL: 1; else the shape of the last `axes` axes */
    const clf_tensor *beta;     /* NULL: 0; the same shape */
    int axes;                   /* how many of the last axes are normalised together */
    float eps;
} clf_layer_norm_params;

#define CLF_LAYER_NORM_PARAMS_INIT {.size = sizeof(clf_layer_norm_params), .axes = 1, .eps = 1e-5f}
CLF_API CLF_NODISCARD clf_status clf_layer_norm_params_default(clf_layer_norm_params *out, size_t size); /* clformer.h: options */

/* s = x + residual; y = (s - mean(s)) / sqrt(var(s) + eps) * gamma + beta; mean and biased variance over the last `axes` axes of s. x, y:
 * the same shape, any strides; y may be x or residual. Each operand is float32, float16 or bfloat16; arithmetic is float32. params NULL =
 * CLF_LAYER_NORM_PARAMS_INIT. Numerics: the variance is corrected for the rounding of the mean. So the error of y is about 1e-7 |y|,
 * before it is rounded to its dtype, even if the mean is a million times the deviation. The error grows in rows of many thousand
 * elements, because the sums round. On CPUs it is 1e-5 |y| at 8,192 elements and 3e-5 |y| at 65,536 if they are not adjacent in memory,
 * and 4e-5 |y| at 500,000 adjacent ones. A constant row gives beta exactly, also with eps 0. A NaN or infinity makes its own row NaN and
 * no other. No rows: nothing to do. INVALID_ARGUMENT: NULL or a foreign tensor, shapes that differ, axes outside 1..rank, nothing to
 * normalise, eps negative or NaN, an integer dtype. UNSUPPORTED: 2^31 or more normalised elements. Enqueued. Source: Ba, Kiros & Hinton
 * 2016, eq. 4. */
CLF_API CLF_NODISCARD clf_status clf_layer_norm(clf_context *context, const clf_tensor *x, const clf_layer_norm_params *params,
                                                clf_tensor *y);

typedef struct clf_rms_norm_params {
    size_t size;                /* sizeof(clf_rms_norm_params) */
    const clf_tensor *residual; /* as in clf_layer_norm_params */
    const clf_tensor *gamma;
    int axes;
    float eps;
} clf_rms_norm_params;

#define CLF_RMS_NORM_PARAMS_INIT {.size = sizeof(clf_rms_norm_params), .axes = 1, .eps = 1e-6f}
CLF_API CLF_NODISCARD clf_status clf_rms_norm_params_default(clf_rms_norm_params *out, size_t size); /* clformer.h: options */

/* s = x + residual; y = s / sqrt(mean(s^2) + eps) * gamma over the last `axes` axes. Otherwise as clf_layer_norm, except for infinities:
 * in a row with an infinity, each infinity becomes NaN and each finite element becomes 0. Source: Zhang & Sennrich 2019, eq. 4. */
CLF_API CLF_NODISCARD clf_status clf_rms_norm(clf_context *context, const clf_tensor *x, const clf_rms_norm_params *params, clf_tensor *y);

/* y[...,:] = x[...,:] / max(|x[...,:]|, eps) along the last axis, |.| the Euclidean norm; torch.nn.functional.normalize has eps 1e-12.
 * Any strides; y may be x; a zero row stays zero. A NaN makes its row NaN. In a row with an infinity, each infinity becomes NaN and each
 * finite element becomes 0. Statuses as clf_layer_norm. Enqueued. */
CLF_API CLF_NODISCARD clf_status clf_l2_normalize(clf_context *context, const clf_tensor *x, float eps, clf_tensor *y);

/* ---- Embeddings ---- */

/* A table and which of its rows each token takes. */
typedef struct clf_embedding_table {
    const clf_tensor *table; /* [V,C], float32, float16 or bfloat16; columns adjacent */
    const clf_tensor *ids;   /* [T], int32; NULL: row 0 for every token */
} clf_embedding_table;

enum { CLF_EMBEDDING_TABLES = 3 };

/* y[t,:] = scale * table0[ids0[t],:] + table1[ids1[t],:] + table2[ids2[t],:] for 1 to 3 tables (token, position, type). y [T,C], columns
 * adjacent, any float dtype; each product and each sum is rounded to float32. The original Transformer uses scale = sqrt(C) and a table
 * of positions. INVALID_ARGUMENT: NULL or a foreign tensor, shapes or dtypes that do not fit, an id outside its table (the message names
 * it). The call reads the ids back to check them, so it waits for the queue; the embedding itself is then enqueued. Source: Vaswani et
 * al. 2017, section 3.4. */
CLF_API CLF_NODISCARD clf_status clf_embedding(clf_context *context, const clf_embedding_table *tables, int count, float scale,
                                               clf_tensor *y);

/* y[p,2i] = sin(p w_i), y[p,2i+1] = cos(p w_i), w_i = 10000^(-2i/d), for y [L,d] with any strides and any float dtype. An odd d has one
 * sine more than cosines. Computed in double on the host, so that every element is the float32 nearest to the formula. Synchronous.
 * INVALID_ARGUMENT: NULL or a foreign tensor, rank not 2, an integer dtype. Source: Vaswani et al. 2017, section 3.5. */
CLF_API CLF_NODISCARD clf_status clf_positional_encoding(clf_context *context, clf_tensor *y);

/* ---- Sentence vectors ---- */

/* How the vectors of a sequence's tokens become one. */
typedef enum clf_pooling {
    CLF_POOLING_MEAN,          /* sum / length */
    CLF_POOLING_CLS,           /* the first token's vector */
    CLF_POOLING_MAX,           /* largest of each column */
    CLF_POOLING_MEAN_SQRT_LEN, /* sum / sqrt(length) */
    CLF_POOLING_LAST,          /* the last token's vector */
    CLF_POOLING_WEIGHTED_MEAN, /* sum of (t + 1) x_t / sum of (t + 1): later tokens count more */
    CLF_POOLING_COUNT
} clf_pooling;

/* Pools each sequence: y[i,:] from the rows offsets[i] .. offsets[i+1] - 1 of x [T,C]; offsets int32 [n+1], y [n,C]. Columns adjacent,
 * any float dtypes. An empty sequence gives zeros. A NaN makes its column of y[i,:] NaN, for MAX too. Sums are made in blocks of 32
 * tokens: error below (44 + len / 32) 2^-24 of the (weighted) mean |x|. INVALID_ARGUMENT: NULL or a foreign tensor, shapes, dtypes or
 * mode that do not fit, offsets that decrease or leave 0..T. The call reads the offsets back to check them, so it waits for the queue;
 * the pooling itself is then enqueued. Source: Reimers & Gurevych 2019, section 3. */
CLF_API CLF_NODISCARD clf_status clf_pool(clf_context *context, clf_pooling mode, const clf_tensor *x, const clf_tensor *offsets,
                                          clf_tensor *y);

/* ---- Selection ---- */

enum { CLF_TOP_K_MAX = 1024 };

/* values[q,:] = the k largest of scores[q,:] in descending order, indices[q,:] their columns. Equal scores: the lower index first. -0
 * equals 0 and is returned as 0; NaN ranks below -infinity. scores [Q,N], any strides, any float dtype; values float32 and indices int32,
 * [Q,k], without gaps. Exact: the result does not depend on engine or device. Temporary memory: at most 64 MiB, or what one row needs if
 * that is more. Enqueued. INVALID_ARGUMENT: NULL or a foreign tensor, shapes or dtypes that do not fit, k outside 1..CLF_TOP_K_MAX or
 * larger than N. */
CLF_API CLF_NODISCARD clf_status clf_top_k(clf_context *context, const clf_tensor *scores, int k, clf_tensor *values, clf_tensor *indices);

#ifdef __cplusplus
}
#endif
#endif
