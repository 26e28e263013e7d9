/* SPDX-License-Identifier: MIT */
/* Quantized embeddings to standard output or a file. */
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

/* Without given ranges int8 and uint8 hold all embeddings in memory, since ranges are known at the end; else windows are written as they
 * come. A file appears whole or not at all, a .npy file with its fingerprint beside it, which also tells the kind and the ranges.
 * directory: the model's. */
clf_status cli_embed_quantized(cli_session *session, const cli_embedding *options, const char *directory,
                               const cli_quantized_output *output, cli_inputs *inputs, clf_embed_stats *stats);

#endif
