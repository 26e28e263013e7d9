/* SPDX-License-Identifier: MIT */
/* GGUF files as checkpoints: their metadata as the keys that a hub directory's config.json has. */
#ifndef CLFI_IO_CHECKPOINT_GGUF_H
#define CLFI_IO_CHECKPOINT_GGUF_H

#include "io/checkpoint.h"

/* The name of the form. */
#define CLFI_FORM_GGUF "gguf"

/* Whether a file begins as GGUF files do, or has a name that ends with .gguf; false for directories and for what cannot be read. */
bool clfi_is_gguf(const char *path);

/* Opens such a file. config.json's keys are those of the hub: model_type is the architecture ("gemma3" is "gemma3_text"), sizes,
 * rope_theta, rope_scaling, sliding_window, eos_token_id (a list), tie_word_embeddings (there is no output.weight), and what only GGUF
 * has:
 *   rope_interleaved        queries and keys of a head turn in pairs (2i, 2i + 1)
 *   rope_frequency_factors  what each frequency is divided by: the tensor rope_freqs.weight
 *   norms_hold_one          gains of norms are stored as 1 + gamma: Gemma's
 * Statuses as clfi_gguf_open; FORMAT and UNSUPPORTED also for keys (named), such as mixtures of experts and files without a whole model. */
clf_status clfi_checkpoint_open_gguf(const char *path, clf_checkpoint **out);

/* Opens a GGUF file in memory, which is borrowed until close; `name` stands for the path in messages. */
clf_status clfi_checkpoint_parse_gguf(const void *data, size_t size, const char *name, clf_checkpoint **out);

#endif
