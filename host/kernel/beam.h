/* SPDX-License-Identifier: MIT */
/* Launchers of cl/beam.cl: the state of a beam search on the device. */
#ifndef CLFI_KERNEL_BEAM_H
#define CLFI_KERNEL_BEAM_H

#include "tensor/view.h"

/* What a step of the search reads; two of them take turns. Arrays are dense, capacity [words * width] unless said otherwise. */
typedef struct clf_beam_state {
    clf_buffer *words;  /* i32 [words]: number of each active word in the batch */
    clf_buffer *tokens; /* i32: newest token of each hypothesis */
    clf_buffer *scores; /* f32: sum of log-probabilities; -inf: no hypothesis */
    clf_buffer *rows;   /* i32 [.,row_stride]: cache row of each token */
    clf_buffer *first, *count; /* i32: memory rows of the hypothesis's source */
} clf_beam_state;

/* What a whole search records. */
typedef struct clf_beam_record {
    clf_buffer *history_token, *history_parent; /* i32 [steps][batch words][width] */
    clf_buffer *finished_score, *finished_at;   /* f32, i32 (step * width + place) [batch words][width] */
    clf_buffer *finished_count;                 /* i32 [batch words] */
    clf_buffer *done;                           /* i32 [active words] */
    clf_buffer *parents;                        /* i32 [active words][width] */
    clf_buffer *source_first, *source_count;    /* i32 [batch words] */
} clf_beam_record;

typedef struct clf_beam_shape {
    int32_t active;      /* words */
    int32_t width;       /* hypotheses of each */
    int32_t batch_words;
    int32_t classes;     /* V */
    int32_t end_token;
    int32_t row_stride;
} clf_beam_shape;

/* The best extensions of step `step`: values f32 and indices i32 [active,width] as top-k gives them over [active, hypotheses * V]. Writes
 * tokens and scores of `state`, and the record. Enqueued. */
clf_status clfi_beam_select(clf_context *context, const clf_beam_shape *shape, int32_t step, const clf_view *values,
                            const clf_view *indices, const clf_beam_state *state, const clf_beam_record *record);

/* The next step's state from this one's for the words keep[0 .. shape->active) (NULL: all), whose hypotheses were parent_width each: `keys`
 * cache rows of each parent, then row first_row + n. Enqueued. */
clf_status clfi_beam_advance(clf_context *context, const clf_beam_shape *shape, int32_t parent_width, int32_t keys, int32_t first_row,
                             const clf_buffer *keep, const clf_beam_state *from, const clf_beam_record *record, const clf_beam_state *to);

#endif
