/* SPDX-License-Identifier: MIT */
/* Softmax along any axis with every kind of mask. */
#ifndef CLFORMER_SOFTMAX_H
#define CLFORMER_SOFTMAX_H

#include "clformer/masks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CLF_AXIS_NONE = 127 };

/* Axes of x (keys, batch rows, queries), scale, masks and policies. A key is used if lengths and every mask keep it. */
typedef struct clf_softmax_params {
    size_t size;           /* sizeof(clf_softmax_params) */
    int axis;              /* the key axis; negative counts from the end; default -1 */
    int batch_axis;        /* B of lengths and the padding mask; default 0 */
    int query_axis;        /* Q of lengths, the attention mask and causal rows; default CLF_AXIS_NONE: the last axis other than `axis` */
    float scale;           /* multiplies x before anything else; default 1 */
    int64_t causal_offset; /* causal rows i use keys j <= i + causal_offset; default 0, also where there are more keys than rows */
    const clf_tensor *lengths;        /* i32 [B] or [B,Q]: key j is kept if j < length; x must have rank 3; NULL: no limit */
    const clf_attention_masks *masks; /* its mask: rank of x, each size that of x or 1; NULL: every key, rows without one give zeros */
    const clf_tensor *bias;           /* f32, rank of x, each size that of x or 1: added to scale*x; -inf gives weight 0 */
} clf_softmax_params;

#define CLF_SOFTMAX_PARAMS_INIT                                                                    \
    {                                                                                              \
        .size = sizeof(clf_softmax_params), .axis = -1, .query_axis = CLF_AXIS_NONE, .scale = 1.0f \
    }
CLF_API CLF_NODISCARD clf_status clf_softmax_params_default(clf_softmax_params *out, size_t size); /* clformer.h: options */

/* y_j = exp(s_j - m) / z over the used keys j of a row along `axis`, s = scale*x + bias, m = largest used s, z = sum of the exponentials.
 * Masked keys get exactly 0.
 *
 * x, y: f32, f16 or bf16 of one shape, any strides; y may be x (the same view), and must not overlap it otherwise. Nothing else is written:
 * x and the masks stay as they are. An empty key axis or an empty shape is legal and writes nothing. Masking replaces: a masked NaN,
 * infinity or huge score has no effect. A used NaN or +inf makes its whole row NaN and no other. A used -inf gets weight 0. f32 arithmetic
 * whatever the storage; relative error of a weight <= (6A + K + 16) u to first order, A = largest |s| in use, u = 2^-24; weights below
 * 2^-126 may become 0. Enqueued. params NULL = defaults. INVALID_ARGUMENT: an axis out of range; an operand whose shape or type is not as
 * above; lengths with x not of rank 3; an unknown policy for empty rows. The detail begins "E_AXIS", "E_SHAPE", "E_DTYPE" or "E_VALUE".
 * UNSUPPORTED: an index beyond 2^31 elements. Source: Milakov and Gimelshein 2018 (online normaliser); Zhang et al., Dive into Deep
 * Learning, 11.3 (valid lengths). */
CLF_API CLF_NODISCARD clf_status clf_softmax(clf_context *context, const clf_tensor *x, const clf_softmax_params *params, clf_tensor *y);

/* Softmax over valid lengths: x [B,T,K], along the last axis; lengths i32 [B] or [B,T] (NULL: plain softmax). Otherwise as clf_softmax. */
CLF_API CLF_NODISCARD clf_status clf_masked_softmax(clf_context *context, const clf_tensor *x, const clf_tensor *lengths,
                                                    clf_empty_rows empty_rows, clf_tensor *y);

#ifdef __cplusplus
}
#endif
#endif
