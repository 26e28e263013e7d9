/* SPDX-License-Identifier: MIT */
/* The architectures of GGUF that are read and written: the only list of them. */
#ifndef CLFI_IO_GGUF_ARCHITECTURE_H
#define CLFI_IO_GGUF_ARCHITECTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Storage of feed-forward matrices: GATED: gate and up are two tensors; FUSED: both are one tensor; PLAIN: there is no gate. */
typedef enum clf_gguf_feed_forward { CLF_GGUF_GATED, CLF_GGUF_FUSED, CLF_GGUF_PLAIN } clf_gguf_feed_forward;

/* The scalings of rotary positions that the architecture has keys for. Each value includes those before it. */
typedef enum clf_gguf_scalings {
    CLF_GGUF_SCALINGS_NONE,
    CLF_GGUF_SCALINGS_LINEAR,
    CLF_GGUF_SCALINGS_YARN,
    CLF_GGUF_SCALINGS_LLAMA3
} clf_gguf_scalings;

/* How GGUF describes a family's networks. */
typedef struct clf_gguf_architecture {
    const char *model_type, *name; /* general.architecture */
    const char *activation;        /* the only activation that it allows */
    clf_gguf_feed_forward feed_forward;
    bool is_interleaved; /* rotary pairs of queries and keys are (2i, 2i + 1); the rows of their matrices are stored in that order */
    bool fuses_qkv;
    bool has_layer_norms; /* norms subtract the mean; else they divide by the root mean square alone */
    bool norms_hold_one;  /* gains are stored as 1 + gamma */
    bool has_soft_caps;   /* scores and logits both have soft caps; if false, scores have none */
    clf_gguf_scalings scalings;
    bool turns_parts;    /* allows rotary positions on a part of each head, and longrope's divisors */
    bool has_local_base; /* layers with windows have a rotary base of their own */
    bool has_windows;    /* in all layers; with a period, in all but each period-th */
    int64_t period;
    int64_t largest; /* if above 0: models of this many layers divide scores by sqrt(width / heads), others by sqrt(head_size) */
} clf_gguf_architecture;

/* The architecture of this name, by the first family that has it. NULL: unknown name. */
const clf_gguf_architecture *clfi_gguf_architecture_named(const char *name);

/* The architecture of a model_type; NULL: it has none. */
const clf_gguf_architecture *clfi_gguf_architecture_of(const char *model_type);

/* The GGUF form of config.json's model_type; `where` names the file in messages. UNSUPPORTED: it has none; the message lists those that
 * have. */
clf_status clfi_gguf_architecture_find(const json_t *config, const char *where, const clf_gguf_architecture **out);

#endif
