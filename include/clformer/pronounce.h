/* SPDX-License-Identifier: MIT */
/* Pronunciations of English words by a small encoder-decoder Transformer, which the library has built in. */
#ifndef CLFORMER_PRONOUNCE_H
#define CLFORMER_PRONOUNCE_H

#include "clformer/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clf_pronouncer clf_pronouncer;

/* path NULL: the built-in model; else a directory with config.json and model.safetensors of the same form (README of host/model/g2p).
 * The pronouncer keeps the context alive. NOT_FOUND, FORMAT, UNSUPPORTED, OUT_OF_MEMORY as clf_model_open. */
CLF_API CLF_NODISCARD clf_status clf_pronouncer_open(clf_context *context, const char *path, clf_pronouncer **out);

/* A pronouncer for a second thread: the same weights on `context`, which shares the cl_context of the first's (clf_context_create_shared)
 * and is kept alive. `with` may be in use meanwhile, and may be destroyed first; the last one's thread then also uses the context that the
 * weights came with. *out: the caller destroys it. INVALID_ARGUMENT: a NULL, a context that shares nothing with the first's. */
CLF_API CLF_NODISCARD clf_status clf_pronouncer_create_shared(clf_pronouncer *with, clf_context *context, clf_pronouncer **out);
CLF_API void clf_pronouncer_destroy(clf_pronouncer *pronouncer); /* NULL is a no-op */

typedef struct clf_pronounce_params {
    size_t size;           /* sizeof(clf_pronounce_params) */
    int beam;              /* hypotheses kept while decoding, 1 to 64; 1 = greedy */
    size_t batch_words;    /* words decoded together; 0 = suited to the device */
    clf_progress progress; /* words; NULL = none */
    void *progress_user;
} clf_pronounce_params;

#define CLF_PRONOUNCE_PARAMS_INIT {.size = sizeof(clf_pronounce_params), .beam = 1}
CLF_API CLF_NODISCARD clf_status clf_pronounce_params_default(clf_pronounce_params *out, size_t size); /* clformer.h: options */

typedef struct clf_pronunciation {
    const char *phonemes; /* "HH AX0 L OW1"; "" when the model ends at once */
    float score;          /* sum of the log-probabilities of the phonemes and of the end */
    int is_complete;      /* 0: it ended at the model's longest target */
} clf_pronunciation;

typedef struct clf_pronunciations clf_pronunciations;

/* Whether the model can read a word: one or more of its letters (a to z and apostrophe; capitals count as small ones), no longer than it
 * was made for. INVALID_ARGUMENT names the word and what is wrong with it. */
CLF_API CLF_NODISCARD clf_status clf_pronouncer_check(const clf_pronouncer *pronouncer, const clf_text *word);

/* Pronunciations of `count` words. Words are sorted by length, decoded in batches with cached keys and values, and leave their batch when
 * they are done. params NULL = defaults. Synchronous. *out: the caller destroys it. INVALID_ARGUMENT: a NULL, a beam out of range, a word
 * that clf_pronouncer_check refuses. CANCELLED: by progress. FORMAT: a probability is not finite (as with weights that are not finite); it
 * is not computed again. */
CLF_API CLF_NODISCARD clf_status clf_pronounce(clf_pronouncer *pronouncer, const clf_text *words, size_t count,
                                               const clf_pronounce_params *params, clf_pronunciations **out);

/* Number of pronunciations found for a word (1 to beam), and the rank-th best of them (0 = best); NULL out of range. Borrowed from the
 * list. */
CLF_API size_t clf_pronunciations_count(const clf_pronunciations *list, size_t word);
CLF_API const clf_pronunciation *clf_pronunciations_get(const clf_pronunciations *list, size_t word, size_t rank);
CLF_API void clf_pronunciations_destroy(clf_pronunciations *list); /* NULL is a no-op */

/* The attention of a pronouncer, by its queries and keys. */
typedef enum clf_pronounce_attention {
    CLF_PRONOUNCE_ATTENTION_CROSS,   /* from each phoneme and the end, as they are chosen, to the letters and their end */
    CLF_PRONOUNCE_ATTENTION_DECODER, /* from the start and each phoneme to itself and those before */
    CLF_PRONOUNCE_ATTENTION_ENCODER  /* from each letter and the end to all of them */
} clf_pronounce_attention;

/* Attention weights of one layer for a word and its phonemes ("HH AX0 L OW1", as clf_pronounce gives them): [H,Q,K] float32, rows sum to 1.
 * With n letters and m phonemes Q is m+1 and K n+1 for CROSS, both m+1 for DECODER, both n+1 for ENCODER. *out: the caller destroys it.
 * INVALID_ARGUMENT: a NULL, a word that clf_pronouncer_check refuses, a phoneme that the model does not have, too many of them, a layer
 * outside the stack. */
CLF_API CLF_NODISCARD clf_status clf_pronouncer_attention(clf_pronouncer *pronouncer, const clf_text *word, const char *phonemes,
                                                          clf_pronounce_attention kind, int64_t layer, clf_tensor **out);

/* Counters of a pronouncer since it was made. */
typedef struct clf_pronounce_stats {
    uint64_t words, letters; /* letters with the end of each word */
    uint64_t steps;          /* decoder steps */
    uint64_t decoded_tokens; /* rows that these steps projected: every token of every hypothesis once */
    uint64_t run_ns;
} clf_pronounce_stats;

CLF_API void clf_pronouncer_get_stats(const clf_pronouncer *pronouncer, clf_pronounce_stats *out);

#ifdef __cplusplus
}
#endif
#endif
