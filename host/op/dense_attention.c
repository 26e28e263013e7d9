/* SPDX-License-Identifier: MIT */
/* Computes attention over dense batches: fused if nothing needs the scores, else as scores, masked softmax and context. */
#include "op/dense_attention.h"

#include "op/activation.h"
#include "op/attention_keep.h"
#include "op/attention_steps.h"
#include "op/masked_softmax.h"

/* The form that multi-head attention requires of the general mask in that layout. */
static const clf_mask_form *form_of(clf_layout layout, const clf_tensor *mask)
{
    static const clf_mask_form four = {"mask", CLF_U8, 4, {0, 1, 2, 3}, CLFI_MASK_REPEATS};
    static const clf_mask_form sequence_first = {"mask", CLF_U8, 3, {2, -1, 0, 1}, 1u << 0 | 1u << 2}; /* [Q|1,K,N|1] */
    const bool is_four = layout == CLF_LAYOUT_NLD || clf_tensor_rank(mask) == 4;
    return is_four ? &four : &sequence_first;
}

static clf_status bind_masks(clf_context *context, const char *what, const clf_mask_form *form, const clf_attention_masks *masks,
                             const clf_view *scores, clf_dense_masks *out)
{
    static const clf_mask_form padding = {"padding mask", CLF_U8, 2, {0, -1, -1, 1}, 0},
                               attention = {"attention mask", CLF_U8, 2, {-1, -1, 0, 1}, 0};
    *out = (clf_dense_masks){.is_causal = masks->is_causal != 0, .empty_rows = masks->empty_rows};
    CLF_TRY(clfi_mask_bind(context, what, form, masks->mask, scores, &out->mask));
    CLF_TRY(clfi_mask_bind(context, what, &padding, masks->padding_mask, scores, &out->padding));
    return clfi_mask_bind(context, what, &attention, masks->attention_mask, scores, &out->attention);
}

clf_status clfi_dense_masks_bind(clf_context *context, const char *what, const clf_mask_form *form, const clf_attention_masks *given,
                                 const clf_view *scores, clf_dense_masks *out)
{
    clf_attention_masks masks;
    CLF_TRY(clfi_masks_read(what, given, &masks));
    return bind_masks(context, what, form, &masks, scores, out);
}

clf_status clfi_dense_masks_bind_layout(clf_context *context, const char *what, clf_layout layout, const clf_attention_masks *given,
                                        const clf_view *scores, clf_dense_masks *out)
{
    clf_attention_masks masks;
    CLF_TRY(clfi_masks_read(what, given, &masks));
    return bind_masks(context, what, form_of(layout, masks.mask), &masks, scores, out);
}

static bool is_masked(const clf_dense_masks *masks)
{
    return masks->is_causal || masks->mask.buffer || masks->padding.buffer || masks->attention.buffer || masks->lengths.buffer;
}

/* Packs all masks of the attention, without the bias, into bits. */
static clf_status pack_masks(clf_context *context, const clf_dense_attention *a, bool is_causal, clf_view *keep)
{
    const clf_dense_masks *masks = a->masks;
    const clf_keep_masks all = {clfi_mask_given(&masks->mask), clfi_mask_given(&masks->padding), clfi_mask_given(&masks->attention),
                                clfi_mask_given(&masks->lengths), is_causal};
    return clfi_attention_keep(context, &all, 4, (int64_t[]){a->q->dim[0], a->q->dim[1], a->q->dim[2], a->k->dim[2]}, keep);
}

/* Calls the caller's score function with the views as tensors. */
static clf_status change_scores(clf_context *context, const clf_dense_attention *a, const clf_view *scores)
{
    clf_tensor *q = NULL, *k = NULL, *s = NULL;
    clf_score_call call = a->call;
    clf_status st;
    CLF_GOTO(clfi_tensor_from_view(a->q, &q));
    CLF_GOTO(clfi_tensor_from_view(a->k, &k));
    CLF_GOTO(clfi_tensor_from_view(scores, &s));
    call.size = sizeof call;
    call.q = q;
    call.k = k;
    call.scores = s;
    call.scale = a->scale;
    (void)clfi_fail(CLF_OK, "attention: the score function failed"); /* unless it, or what it calls, says more */
    CLF_GOTO(a->score(context, &call, a->score_user));
done:
    clf_tensor_destroy(q);
    clf_tensor_destroy(k);
    clf_tensor_destroy(s);
    return st;
}

/* Writes the scores to `weights`, then their softmax in place. */
static clf_status make_weights(clf_context *context, const clf_dense_attention *a, const clf_view *weights)
{
    const clf_dense_masks *masks = a->masks;
    clf_softmax_args softmax = CLFI_SOFTMAX_ARGS_INIT;
    if (clfi_view_count(weights) == 0)
        return CLF_OK;
    softmax.x = softmax.y = weights;
    softmax.axis = 3;
    softmax.query_axis = masks->is_causal ? 2 : -1;
    softmax.empty_rows = masks->empty_rows;
    softmax.mask = clfi_mask_given(&masks->mask);
    softmax.padding = clfi_mask_given(&masks->padding);
    softmax.attention = clfi_mask_given(&masks->attention);
    softmax.lengths = clfi_mask_given(&masks->lengths);
    softmax.bias = clfi_mask_given(&masks->bias);
    CLF_TRY(a->make_scores ? a->make_scores(context, a->make_user, weights)
                           : clfi_attention_scores(context, a->q, a->k, a->scale, weights));
    if (a->score)
        CLF_TRY(change_scores(context, a, weights));
    return clfi_softmax(context, &softmax);
}

/* Weights are always computed in a dense array, also if the caller wants them in another layout or not at all. So the result has the same
 * bits in each of these cases. */
static clf_status attend_in_steps(clf_context *context, const clf_dense_attention *a)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    const int64_t dim[4] = {a->q->dim[0], a->q->dim[1], a->q->dim[2], a->k->dim[2]};
    const clf_dense_masks *masks = a->masks;
    clf_view weights, dropped, keep;
    const bool has_bits = is_masked(masks), is_in_place = a->weights && clfi_view_is_dense(a->weights);
    clf_status st;
    if (is_in_place)
        weights = *a->weights;
    else
        CLF_GOTO(clfi_view_temporary(context, CLF_F32, 4, dim, &weights));
    CLF_GOTO(make_weights(context, a, &weights));
    if (a->weights && !is_in_place && clfi_view_count(&weights))
        CLF_GOTO(clfi_activation(context, CLF_ACTIVATION_NONE, &weights, a->weights));
    if (a->dropout != 0.0f) {
        CLF_GOTO(clfi_view_temporary(context, CLF_F32, 4, dim, &dropped));
        CLF_GOTO(clfi_dropout(context, &weights, a->dropout, a->seed, &dropped));
        weights = dropped;
    }
    if (has_bits)
        CLF_GOTO(pack_masks(context, a, masks->is_causal, &keep));
    CLF_GOTO(clfi_attention_context(context, &weights, a->v, has_bits ? &keep : NULL, a->out));
done:
    clfi_arena_release(context, mark);
    return st;
}

/* Whether the rows of all sequences are evenly spaced, one sequence after the other. */
static bool is_packed(const clf_view *four)
{
    return four->dim[0] <= 1 || four->dim[2] == 0 || four->stride[0] == four->dim[2] * four->stride[2];
}

/* Whether head h of sequence n lies at (n H + h) times one stride. */
static bool is_merged(const clf_view *four)
{
    return four->dim[0] <= 1 || four->stride[0] == four->dim[1] * four->stride[1];
}

static bool has_form(const clf_dense_attention *a, bool (*form)(const clf_view *))
{
    return form(a->q) && form(a->k) && form(a->v) && form(a->out);
}

static bool has_unit_columns(const clf_view *four)
{
    return four->dim[3] <= 1 || four->stride[3] == 1;
}

/* Whether the masks mask only whole keys, and kernels can read them as they are, because the sequences' rows follow each other. Other masks
 * become bits. */
static bool masks_keys_only(const clf_dense_attention *a)
{
    const clf_dense_masks *masks = a->masks;
    const bool is_one = a->q->dim[0] <= 1;
    if (masks->mask.buffer || masks->attention.buffer)
        return false;
    if (!masks->padding.buffer && !masks->lengths.buffer)
        return true;
    return has_form(a, is_packed) && (!masks->lengths.buffer || masks->lengths.stride[2] == 0) &&
           (!masks->padding.buffer || is_one || masks->padding.stride[0] == a->k->dim[2] * masks->padding.stride[3]);
}

static bool has_types_of_fused(const clf_dense_attention *a)
{
    const clf_dtype dtype = a->q->dtype;
    return a->k->dtype == dtype && a->v->dtype == dtype && (a->out->dtype == dtype || a->out->dtype == CLF_F32);
}

static bool can_fuse(const clf_dense_attention *a)
{
    return !a->weights && a->dropout == 0.0f && !a->masks->bias.buffer && !a->score && !a->make_scores && has_types_of_fused(a) &&
           a->k->dim[3] > 0 && has_form(a, has_unit_columns) && (has_form(a, is_packed) || has_form(a, is_merged));
}

/* Views [N,H,rows,columns] as [H, all rows, columns], or as one sequence with the heads of all: [N H, rows, columns]. */
static clf_view three_axes(const clf_view *four, bool is_by_sequence)
{
    const int64_t heads = is_by_sequence ? four->dim[1] : four->dim[0] * four->dim[1],
                  rows = is_by_sequence ? four->dim[0] * four->dim[2] : four->dim[2];
    return (clf_view){.buffer = four->buffer,
                      .dtype = four->dtype,
                      .rank = 3,
                      .offset = four->offset,
                      .dim = {heads, rows, four->dim[3]},
                      .stride = {four->stride[1], four->stride[2], four->stride[3]}};
}

static clf_status attend_fused(clf_context *context, const clf_dense_attention *a)
{
    const clf_view *padding = &a->masks->padding, *lengths = &a->masks->lengths;
    const bool is_by_sequence = has_form(a, is_packed), has_bits = !masks_keys_only(a);
    const clf_view q = three_axes(a->q, is_by_sequence), k = three_axes(a->k, is_by_sequence), v = three_axes(a->v, is_by_sequence);
    const clf_view heads = three_axes(a->out, is_by_sequence), key_mask = {.buffer = has_bits ? NULL : padding->buffer,
                                                                           .dtype = CLF_U8,
                                                                           .rank = 1,
                                                                           .offset = padding->offset,
                                                                           .dim = {a->k->dim[0] * a->k->dim[2]},
                                                                           .stride = {padding->stride[3]}};
    const clf_view counts = {.buffer = has_bits ? NULL : lengths->buffer,
                             .dtype = CLF_I32,
                             .rank = 1,
                             .offset = lengths->offset,
                             .dim = {a->q->dim[0]},
                             .stride = {lengths->stride[0]}};
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view out = heads, keep; /* [rows, heads, columns] */
    clf_status st;
    out.dim[0] = heads.dim[1];
    out.dim[1] = heads.dim[0];
    out.stride[0] = heads.stride[1];
    out.stride[1] = heads.stride[0];
    if (has_bits)
        CLF_GOTO(pack_masks(context, a, false, &keep));
    const clf_attention_args args = {.q = &q,
                                     .k = &k,
                                     .v = &v,
                                     .out = &out,
                                     .key_mask = clfi_mask_given(&key_mask),
                                     .lengths = clfi_mask_given(&counts),
                                     .keep = has_bits ? &keep : NULL,
                                     .scale = a->scale,
                                     .is_causal = a->masks->is_causal,
                                     .empty_rows = a->masks->empty_rows};
    CLF_GOTO(clfi_attention_dense(context, is_by_sequence ? a->q->dim[0] : 1, a->q->dim[2], a->k->dim[2], &args));
done:
    clfi_arena_release(context, mark);
    return st;
}

clf_status clfi_dense_attend(clf_context *context, const clf_dense_attention *attention)
{
    if (clfi_view_count(attention->out) == 0 && !attention->weights)
        return CLF_OK;
    return can_fuse(attention) ? attend_fused(context, attention) : attend_in_steps(context, attention);
}

clf_status clfi_dense_weights(clf_context *context, const clf_dense_attention *attention)
{
    return make_weights(context, attention, attention->weights);
}
