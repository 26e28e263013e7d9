/* SPDX-License-Identifier: MIT */
/* Writes directories of decoder models as GGUF files. */
#ifndef CLFI_MODEL_GGUF_EXPORT_H
#define CLFI_MODEL_GGUF_EXPORT_H

#include "io/checkpoint.h"
#include "io/gguf_architecture.h"
#include "io/gguf_write.h"
#include "text/tokenizer_gguf_put.h"
#include "model/family.h"

/* Counters of a conversion. */
typedef struct clf_gguf_exported {
    clf_gguf_converted tensors;
    int64_t positions; /* above 0: positions of the file, because its architecture lacks the model's windows of this width; the model has
                          more */
    clf_tokenizer_put_notes tokenizer;
} clf_gguf_exported;

/* The factor by which the query weights are multiplied, because the architecture cannot store another scale of the scores; else 1. */
double clfi_gguf_query_scale(const clf_gguf_architecture *architecture, const clf_network_config *network);

/* The network's sizes and settings as metadata; *out_positions as clf_gguf_exported has them. UNSUPPORTED: what the architecture lacks, by
 * its key in config.json. */
clf_status clfi_gguf_put_network(const clf_gguf_architecture *architecture, const clf_network_config *network, const json_t *config,
                                 clf_gguf_values *values, int64_t *out_positions);

/* The network's weights as GGUF's tensors. Borrows the checkpoint, which is loaded. */
typedef struct clf_gguf_tensors clf_gguf_tensors;
clf_status clfi_gguf_tensors_create(const clf_checkpoint *checkpoint, const clf_gguf_architecture *architecture, const clf_family *family,
                                    const clf_network_config *network, clf_gguf_tensors **out);
void clfi_gguf_tensors_destroy(clf_gguf_tensors *tensors); /* NULL is a no-op */
void clfi_gguf_tensors_describe(const clf_gguf_tensors *tensors, clf_gguf_source *source);

/* Writes a directory (config.json, safetensors, tokenizer.json) to path, with matrices in the types of that kind of file. The file appears
 * whole or not at all. progress NULL: not wanted. UNSUPPORTED: a family, a tokenizer or a setting that GGUF has no form for, by name. Other
 * statuses as clfi_gguf_write, clfi_checkpoint_open and clfi_vocabulary_export. */
clf_status clfi_gguf_export(const char *directory, const clf_gguf_file_type *type, const char *path, const clf_gguf_progress *progress,
                            clf_gguf_exported *out);

#endif
