/* SPDX-License-Identifier: MIT */
/* The struct behind clf_pronouncer, shared by the files of clformer/pronounce.h. */
#ifndef CLFI_MODEL_PRONOUNCER_H
#define CLFI_MODEL_PRONOUNCER_H

#include "clformer/pronounce.h"
#include "model/beam_search.h"
#include "model/seq2seq.h"

/* State of one thread that runs a model; threads may share the model. */
struct clf_pronouncer {
    clf_context *context;    /* retained */
    clf_seq2seq *model;      /* one reference */
    int32_t letter[256];     /* id of each byte, -1: no letter of the model */
    clf_beam_search *search; /* of the latest width; NULL until it is needed */
    int search_width;
    clf_pronounce_stats stats;
};

/* clf_pronouncer_attention that ends with DEVICE_LOST after a loss of the device. A caller that reads the weights repeats both together
 * (clfi_context_recover). */
clf_status clfi_pronouncer_attention_once(clf_pronouncer *pronouncer, const clf_text *word, const char *phonemes,
                                          clf_pronounce_attention kind, int64_t layer, clf_tensor **out);

#endif
