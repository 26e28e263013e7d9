/* SPDX-License-Identifier: MIT */
/* Writes quantized embeddings to standard output or a file. */
#ifndef CLFI_JOBS_EMBED_QUANTIZED_H
#define CLFI_JOBS_EMBED_QUANTIZED_H

#include "jobs/embedding.h"
#include "jobs/quantize.h"

typedef struct cli_quantized_output {
    int kind;           /* a cli_quantization */
    const char *ranges; /* a .npy file; NULL: those of the embeddings themselves */
    const char *path;   /* NULL: standard output */
    bool is_npy, is_json;
} cli_quantized_output;

/* Embeds and quantizes all inputs. int8 and uint8 without given ranges keep all embeddings in memory, because the ranges are known only at
 * the end; otherwise windows are written as they come. A file appears whole or not at all. A .npy file gets a fingerprint beside it, which
 * also records the kind and the ranges. directory: the model's. */
clf_status cli_embed_quantized(cli_session *session, const cli_embedding *options, const char *directory,
                               const cli_quantized_output *output, cli_inputs *inputs, clf_embed_stats *stats);

#endif
