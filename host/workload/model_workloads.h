/* SPDX-License-Identifier: MIT */
/* Workloads of models: the parts of the suite "models", and what the suite "generation" shares with it. Functions that take a list
 * append to it; `quick` keeps few workloads. */
#ifndef CLFI_WORKLOAD_MODEL_WORKLOADS_H
#define CLFI_WORKLOAD_MODEL_WORKLOADS_H

#include "clformer/pronounce.h"
#include "base/random.h"
#include "workload/workload.h"

enum { CLFI_BENCH_MODEL_NAME = 40 };

/* A model directory (or GGUF file) and what its workloads need to know of it. */
typedef struct clfi_bench_model {
    const char *directory;                                          /* borrowed; workloads copy it */
    char name[CLFI_BENCH_MODEL_NAME];                               /* clfi_model_name */
    int64_t layers, width, hidden_width, vocabulary, max_positions; /* of the stack that makes embeddings, as its family reads
                                                                       config.json */
    json_t *identity; /* owned: {"name", "xxh128", "file_bytes"}, the hash over all files of weights */
} clfi_bench_model;

/* Fills *out, which the caller frees, also after a failure. Forwards failures of reading config.json and the weights. */
clf_status clfi_bench_model_read(const char *directory, clfi_bench_model *out);
void clfi_bench_model_free(clfi_bench_model *model);

/* The last component of a path, without trailing slashes and ".gguf". If that is "model", the component before it. */
void clfi_model_name(const char *directory, char *out, size_t size);

/* {"name", "xxh128", "file_bytes"} of a directory with weights, or of a GGUF file. name NULL: clfi_model_name. The caller releases *out.
 * Forwards failures of reading the weights. */
clf_status clfi_model_identity(const char *directory, const char *name, json_t **out);

/* Allocates the parameters of a workload: `size` bytes of zeros, followed by copies of up to two strings (NULL: none, and the copy is
 * NULL). out: address of the pointer that receives them. OUT_OF_MEMORY. */
clf_status clfi_model_parameters(size_t size, const char *first, const char *second, void *out, const char **first_copy,
                                 const char **second_copy);

/* Adds a workload; its suite is "models" unless it names another. Takes over `work` and `parameters`, also on failure. OUT_OF_MEMORY,
 * also if `work` is NULL. */
clf_status clfi_model_workload_add(clfi_workload_list *list, clfi_workload *workload, json_t *work, void *parameters);

clf_status clfi_encoder_workloads(clfi_workload_list *list, const clfi_bench_model *model, bool quick);
clf_status clfi_start_workloads(clfi_workload_list *list, const clfi_bench_model *model, bool quick);
clf_status clfi_decoder_workloads(clfi_workload_list *list, bool quick);

/* Add one workload each: sequences of random ids, the lines of a file as texts, the lines of a file as words. directory NULL: the
 * built-in model. batch_words 0: chosen for the device. clfi_encoder_add_ids adds nothing if the sequences are longer than the model
 * allows. FORMAT: a file without lines. */
clf_status clfi_encoder_add_ids(clfi_workload_list *list, const clfi_bench_model *model, size_t batch, size_t tokens);
clf_status clfi_encoder_add_file(clfi_workload_list *list, const clfi_bench_model *model, const char *file);
clf_status clfi_decoder_add_file(clfi_workload_list *list, const char *directory, const char *file, int beam, size_t batch_words);

/* Facts about a prepared workload: the model, the number of tokens of the latest run, the phonemes of the latest run. Borrowed. */
const clf_model_info *clfi_encoder_info(const void *state);
size_t clfi_encoder_tokens(const void *state);
const clf_pronunciations *clfi_decoder_result(const void *state);

/* Bytes of weights that the device holds: those of the file, or fewer if it did not load all of them. Copies in another form count as
 * scratch. loaded_bytes: device memory that loading took. */
size_t clfi_model_weights_bytes(uint64_t file_bytes, uint64_t loaded_bytes);

enum { CLFI_MODEL_IDS_SEED = 7 };

/* Fills ids [batch, tokens] with random ids below `vocabulary`, the same for every device, and offsets [batch + 1] with the start of
 * each sequence. */
void clfi_model_random_ids(size_t batch, size_t tokens, int64_t vocabulary, int32_t *ids, int32_t *offsets);

#endif
