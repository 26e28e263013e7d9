/* SPDX-License-Identifier: MIT */
/* One thread's work on a model: its queue and the memory that passes use again. */
#ifndef CLFI_MODEL_SESSION_H
#define CLFI_MODEL_SESSION_H

#include "model/decode_rehearsal.h"
#include "model/model.h"
#include "model/packing.h"

struct clf_session {
    clf_model *model;     /* a reference */
    clf_context *context; /* retained: the model's, or one that shares its cl_context */
    uint32_t opening;     /* context->openings when the members below were made */
    clf_packer packer;
    struct clf_launch_graph *row_graph; /* of passes over rows; NULL: few were run yet, or the device runs no graphs */
    size_t row_passes;
    clf_session *portable;             /* the same model on the portable engines; NULL until a result was corrupt */
    bool is_rehearsed;                 /* a rehearsed pass lacked no kernel; later passes are not rehearsed */
    struct clf_decode_batch *decoding; /* made when text is first generated */
    bool is_decoding_rehearsed;        /* the kernels of its passes are built */
    struct clf_chat_prompt *chat;      /* opened when a conversation is first asked for */
};

/* Makes the session usable again if the context was opened again since the session was last used (clfi_context_recover): reloads the
 * model's weights if nobody did, and renews the session's memory. The session's sequences then have no tokens. */
clf_status clfi_session_refresh(clf_session *session);

/* clfi_context_recover for a call on a session. True: the caller repeats its work, beginning with clfi_session_refresh. */
CLF_NODISCARD bool clfi_session_recover(clf_session *session, clf_status *st);

/* Whether the caller repeats a pass that ended with *st before it wrote anything. That is so if an engine was left out after the weights
 * were loaded (op/left_out.h); the weights are then loaded again for the engines that remain. False with a changed *st: loading failed. */
CLF_NODISCARD bool clfi_session_reload(clf_session *session, clf_status *st);

/* Rehearses a plan on the session's decoding batch (clfi_decode_rehearse). If that leaves an engine out, the weights are loaded again and
 * the rehearsal is repeated. */
clf_status clfi_session_rehearse(clf_session *session, const clf_decode_plan *plan);

/* clfi_decode_warm on the session's decoding batch, with weights loaded again for engines that remain. */
clf_status clfi_session_warm(clf_session *session, const clf_decode_sizes *sizes);

/* Sequences one after another: sequence i is ids[offsets[i] .. offsets[i+1]), offsets[0] = 0. type_ids NULL: all 0. */
typedef struct clf_sequences {
    const int32_t *ids, *type_ids, *offsets;
    size_t count;
} clf_sequences;

/* Checks ids and lengths and puts them on the device. INVALID_ARGUMENT names the sequence and the value. The batch is the session's: the
 * next call overwrites it. */
clf_status clfi_session_pack(clf_session *session, const clf_sequences *sequences, clf_token_batch *out);

/* Compute hidden [tokens, C], f32 and dense: the embedded tokens, or the encoder's output. Enqueued. */
clf_status clfi_session_embed_tokens(const clf_session *session, const clf_token_batch *batch, const clf_view *hidden);
clf_status clfi_session_encode(const clf_session *session, const clf_token_batch *batch, const clf_view *hidden);

/* clf_session_attention that ends with DEVICE_LOST after a loss of the device. A caller that reads the weights repeats both together
 * (clfi_session_recover). */
clf_status clfi_session_attention_once(clf_session *session, const clf_tokens *sequence, int64_t layer, clf_tensor **out);

#endif
