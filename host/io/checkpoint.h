/* SPDX-License-Identifier: MIT */
/* A stored model: tensors by name, and the keys of config.json. Families and loaders see this form alone, whatever the files are. A file
 * format with other keys (GGUF's metadata) makes the JSON from them. */
#ifndef CLFI_IO_CHECKPOINT_H
#define CLFI_IO_CHECKPOINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_map.h"
#include "base/weight_type.h"

/* Name of the configuration in messages, whatever it is made from. */
#define CLFI_MODEL_CONFIG "config.json"

/* A key of the configuration: its object holds the keys that sentence-transformers' file beside it has put over config.json's own. */
#define CLFI_CONFIG_ARGUMENTS "sentence_transformers.config_kwargs"

enum { CLFI_CHECKPOINT_MAX_RANK = 16 };

/* A tensor as it is stored; texts and data are borrowed until close. */
typedef struct clf_checkpoint_tensor {
    const char *name;
    bool is_weight; /* `type` is valid; else the elements are integers or the like, which only type_name describes */
    clf_weight_type type;
    const char *type_name; /* as the file's format calls it: "BF16", "q4_k" */
    int rank;
    int64_t dim[CLFI_CHECKPOINT_MAX_RANK]; /* row-major; rank 0 is one element */
    const void *data;
    size_t bytes;
    size_t offset; /* of the data from the start of its file */
    int file;      /* index of the file that holds it */
    bool is_made;  /* no file holds these numbers: data is NULL, and clfi_checkpoint_make computes them */
} clf_checkpoint_tensor;

typedef struct clf_checkpoint clf_checkpoint;

/* A form of storage: one row for each, and one function that opens it. `state` is the form's own. */
typedef struct clf_checkpoint_form {
    const char *name; /* "safetensors" */
    /* Opens the files of weights; called once, before anything below it is asked. NULL: they are open already. */
    clf_status (*load)(void *state);
    bool (*at)(const void *state, size_t index, clf_checkpoint_tensor *out);
    bool (*find)(const void *state, const char *name, clf_checkpoint_tensor *out);
    size_t (*file_count)(const void *state);
    const char *(*file_path)(const void *state, int file);
    clf_file_map *(*file_map)(const void *state, int file);
    void (*close)(void *state);
    /* The bytes of a tensor with is_made, in new memory. NULL: the form has no such tensors. */
    clf_status (*make)(const void *state, const clf_checkpoint_tensor *tensor, void **out);
} clf_checkpoint_form;

/* A directory with config.json and model.safetensors or its shards, or a GGUF file (io/checkpoint_gguf.h). Of a directory it reads
 * config.json alone; clfi_checkpoint_load opens the weights. NOT_FOUND: no such directory or no config.json. FORMAT: config.json is not
 * JSON, or larger than CLFI_MODEL_FILE_BYTES. For a GGUF file the statuses are those of clfi_checkpoint_open_gguf. */
clf_status clfi_checkpoint_open(const char *path, clf_checkpoint **out);

/* config.json and model.safetensors in memory, borrowed until close; `name` stands before theirs in messages ("built-in"). */
clf_status clfi_checkpoint_open_memory(const char *name, const void *config, size_t config_bytes, const void *weights, size_t weight_bytes,
                                       clf_checkpoint **out);

/* For forms of other files: takes over `state` and the reference to `config`, also on failure. */
clf_status clfi_checkpoint_create(const clf_checkpoint_form *form, void *state, json_t *config, clf_checkpoint **out);
void clfi_checkpoint_close(clf_checkpoint *checkpoint); /* NULL is a no-op */

const char *clfi_checkpoint_form(const clf_checkpoint *checkpoint);     /* the name of its form; static storage */
const json_t *clfi_checkpoint_config(const clf_checkpoint *checkpoint); /* borrowed until close */

/* The state of a checkpoint of this form; NULL: it has another form. */
const void *clfi_checkpoint_state(const clf_checkpoint *checkpoint, const clf_checkpoint_form *form);

/* Opens the files of weights; a second call does nothing. Call it before the functions below. Statuses as
 * clfi_safetensors_open_directory. */
clf_status clfi_checkpoint_load(clf_checkpoint *checkpoint);

/* The tensor at an index in the form's order, or of a name; false: there is none. */
bool clfi_checkpoint_at(const clf_checkpoint *checkpoint, size_t index, clf_checkpoint_tensor *out);
bool clfi_checkpoint_find(const clf_checkpoint *checkpoint, const char *name, clf_checkpoint_tensor *out);

/* If tensor->is_made: computes its bytes into new memory, to which tensor->data points from then on. *out: that memory, which the caller
 * frees; NULL where the tensor is stored. */
clf_status clfi_checkpoint_make(const clf_checkpoint *checkpoint, clf_checkpoint_tensor *tensor, void **out);

/* Whether both tensors exist with equal sizes, type and bits. A tensor with is_made equals no other. Two tensors are compared once: the
 * checkpoint remembers the answer. */
bool clfi_checkpoint_is_copy(const clf_checkpoint *checkpoint, const char *name, const char *other);

/* The files that tensors lie in, whole, for devices that use weights in place: a buffer that wraps one keeps it after close. */
size_t clfi_checkpoint_file_count(const clf_checkpoint *checkpoint);
const char *clfi_checkpoint_file_path(const clf_checkpoint *checkpoint, int file);
clf_file_map *clfi_checkpoint_file_map(const clf_checkpoint *checkpoint, int file);
uint64_t clfi_checkpoint_file_bytes(const clf_checkpoint *checkpoint);

/* IO: a file of weights has changed since it was opened; what was read since may be wrong. */
clf_status clfi_checkpoint_check(const clf_checkpoint *checkpoint);

/* Tells the system that this tensor's pages will not be read again soon; they stay readable. */
void clfi_checkpoint_forget(const clf_checkpoint *checkpoint, const clf_checkpoint_tensor *tensor);

#endif
