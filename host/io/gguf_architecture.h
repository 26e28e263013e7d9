/* SPDX-License-Identifier: MIT */
/* The architectures of GGUF that are read and written: the only list of them. */
#ifndef CLFI_IO_GGUF_ARCHITECTURE_H
#define CLFI_IO_GGUF_ARCHITECTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* How matrices of feed-forward networks are stored: the gate beside the other, both as one, or there is no gate. */
typedef enum clf_gguf_feed_forward { CLF_GGUF_GATED, CLF_GGUF_FUSED, CLF_GGUF_PLAIN } clf_gguf_feed_forward;

/* Scalings of rotary positions that there are keys for, each with those before it. */
typedef enum clf_gguf_scalings {
    CLF_GGUF_SCALINGS_NONE,
    CLF_GGUF_SCALINGS_LINEAR,
    CLF_GGUF_SCALINGS_YARN,
    CLF_GGUF_SCALINGS_LLAMA3
} clf_gguf_scalings;

/* How GGUF describes a family's networks. */
typedef struct clf_gguf_architecture {
    const char *model_type, *name; /* general.architecture */
    const char *activation;        /* the only one that it has */
    clf_gguf_feed_forward feed_forward;
    bool is_interleaved; /* queries and keys turn in pairs (2i, 2i + 1): rows of their matrices lie so */
    bool fuses_qkv;
    bool has_layer_norms; /* norms subtract the mean; else they divide by the root mean square alone */
    bool norms_hold_one;  /* gains are stored as 1 + gamma */
    bool has_soft_caps;   /* of scores and of logits, both always; scores have none otherwise */
    clf_gguf_scalings scalings;
    bool turns_parts;    /* heads of which a part is turned, and longrope's divisors */
    bool has_local_base; /* layers with windows turn by a base of their own */
    bool has_windows;    /* of all layers, or with a period of all but each period-th */
    int64_t period;
    int64_t largest; /* above 0: with so many layers scores are divided by sqrt(width / heads), else by sqrt(head_size) */
} clf_gguf_architecture;

/* The architecture of this name; where several families share it, as the first of them. NULL: another one. */
const clf_gguf_architecture *clfi_gguf_architecture_named(const char *name);

/* The architecture of a model_type; NULL: it has none. */
const clf_gguf_architecture *clfi_gguf_architecture_of(const char *model_type);

/* The GGUF form of config.json's model_type; `where` names the file in messages. UNSUPPORTED: it has none; the message lists those that
 * have. */
clf_status clfi_gguf_architecture_find(const json_t *config, const char *where, const clf_gguf_architecture **out);

#endif
