/* SPDX-License-Identifier: MIT */
/* GGUF checkpoints (llama.cpp's model files), versions 2 and 3, little-endian: strict reading in place. Format:
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. A file is "GGUF", a version, the numbers of tensors and of metadata keys, and
 * the metadata (key, type, value). Then come a description of each tensor (name, sizes, weight type, offset), and the data from the next
 * multiple of the alignment on. */
#ifndef CLFI_IO_GGUF_H
#define CLFI_IO_GGUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_map.h"
#include "base/status.h"
#include "base/weight_type.h"

enum {
    CLFI_GGUF_MAX_RANK = 4,
    CLFI_GGUF_MAX_NAME = 127,  /* bytes of a tensor's name */
    CLFI_GGUF_MAX_KEY = 65535, /* bytes of a metadata key */
    CLFI_GGUF_MAX_ALIGNMENT = 1 << 20
};

/* id, number in the file, bytes (0: of no fixed size), name for messages. */
#define CLFI_GGUF_TYPE_MAP(X) \
    X(U8, 0, 1, "uint8")      \
    X(I8, 1, 1, "int8")       \
    X(U16, 2, 2, "uint16")    \
    X(I16, 3, 2, "int16")     \
    X(U32, 4, 4, "uint32")    \
    X(I32, 5, 4, "int32")     \
    X(F32, 6, 4, "float32")   \
    X(BOOL, 7, 1, "bool")     \
    X(STRING, 8, 0, "string") \
    X(ARRAY, 9, 0, "array")   \
    X(U64, 10, 8, "uint64")   \
    X(I64, 11, 8, "int64")    \
    X(F64, 12, 8, "float64")

typedef enum clf_gguf_type {
#define X(id, number, bytes, name) CLF_GGUF_##id = number,
    CLFI_GGUF_TYPE_MAP(X)
#undef X
        CLF_GGUF_TYPE_COUNT
} clf_gguf_type;

/* Text of a file: any bytes, not ended by NUL. */
typedef struct clf_gguf_string {
    const char *data;
    size_t length;
} clf_gguf_string;

/* A metadata value as it lies in the file. */
typedef struct clf_gguf_value {
    clf_gguf_string key;
    clf_gguf_type type;    /* of a number, a string, or ARRAY */
    clf_gguf_type element; /* of an array: its elements' type, never ARRAY; otherwise `type` */
    size_t count;          /* of an array: its elements; otherwise 1 */
    const uint8_t *data;   /* the first element; any alignment */
} clf_gguf_value;

typedef struct clf_gguf_tensor {
    const char *name;
    clf_weight_type type;
    int rank;                        /* 1 .. CLFI_GGUF_MAX_RANK */
    int64_t dim[CLFI_GGUF_MAX_RANK]; /* row-major, as everywhere else here: the file has them reversed */
    const void *data;                /* a multiple of the file's alignment from its start */
    size_t bytes;
    size_t offset; /* of the data from the start of the file */
    int part;      /* which of the model's files: 0, of a split model 0 .. clfi_gguf_part_count - 1 */
} clf_gguf_tensor;

typedef struct clf_gguf clf_gguf;

/* Maps the file and checks all of it but the values of numbers: magic, version, counts against the file's size, keys, types, strings, array
 * lengths, alignment, names and sizes. Tensors have to hold whole blocks and lie one after the other inside the file. Each fault is a
 * FORMAT error that names the file, the key or tensor, what was expected and found. The first part of a model that was split into several
 * files (NAME-00001-of-00005.gguf) opens the others as well, which lie beside it. UNSUPPORTED: version 1, big-endian files, arrays of
 * arrays, a weight type that is not in base/weight_type.h, another part than the first. NOT_FOUND: no such file, or no such part. FORMAT
 * also: parts of different models, other counts of parts or tensors than the files say, a tensor in two parts. Release with
 * clfi_gguf_close. */
clf_status clfi_gguf_open(const char *path, clf_gguf **out);

/* The same checks on size bytes of memory, borrowed until close. `name` stands for the path in messages. UNSUPPORTED also: a part of a
 * split model. */
clf_status clfi_gguf_parse(const void *data, size_t size, const char *name, clf_gguf **out);

void clfi_gguf_close(clf_gguf *file); /* NULL is a no-op */

/* The file's name for messages; of a split model the first part's. */
const char *clfi_gguf_path(const clf_gguf *file);

/* The files of a model, 1 unless it is split: their names, and the whole of each, which a buffer that wraps it keeps after close. */
size_t clfi_gguf_part_count(const clf_gguf *file);
const char *clfi_gguf_part_path(const clf_gguf *file, int part);
clf_file_map *clfi_gguf_part_map(const clf_gguf *file, int part);

/* Tensors in the order of the file; NULL out of range, or when there is none of the name (O(log n)). Borrowed until close. */
size_t clfi_gguf_count(const clf_gguf *file);
const clf_gguf_tensor *clfi_gguf_at(const clf_gguf *file, size_t index);
const clf_gguf_tensor *clfi_gguf_find(const clf_gguf *file, const char *name);

/* Metadata in the order of the keys (bytewise), and by key; NULL likewise. */
size_t clfi_gguf_value_count(const clf_gguf *file);
const clf_gguf_value *clfi_gguf_value_at(const clf_gguf *file, size_t index);
const clf_gguf_value *clfi_gguf_value(const clf_gguf *file, const char *key);

/* Name of a type for messages. Static storage. */
const char *clfi_gguf_type_name(clf_gguf_type type);

/* Element i < count of a value. Integers and bools as int64 (uint64 above INT64_MAX: false), all numbers as double (bools 0 or 1); false
 * when the element is of another kind. */
bool clfi_gguf_int(const clf_gguf_value *value, size_t i, int64_t *out);
bool clfi_gguf_number(const clf_gguf_value *value, size_t i, double *out);

/* A value that is one string; false for any other. */
bool clfi_gguf_text(const clf_gguf_value *value, clf_gguf_string *out);

/* All strings of a string or an array of them into out[count]; false for another kind. One walk over the file. */
bool clfi_gguf_strings(const clf_gguf_value *value, clf_gguf_string *out);

/* Required (get) and optional (opt: `standard` where the key is absent) scalars. FORMAT names file, key, what was expected, what was found.
 * Strings must be free of U+0000. */
clf_status clfi_gguf_get_int(const clf_gguf *file, const char *key, int64_t least, int64_t most, int64_t *out);
clf_status clfi_gguf_opt_int(const clf_gguf *file, const char *key, int64_t least, int64_t most, int64_t standard, int64_t *out);
clf_status clfi_gguf_get_number(const clf_gguf *file, const char *key, double least, double most, double *out);
clf_status clfi_gguf_opt_bool(const clf_gguf *file, const char *key, bool standard, bool *out);
clf_status clfi_gguf_get_text(const clf_gguf *file, const char *key, clf_gguf_string *out);

/* Tells the system that this tensor's pages will not be read again soon; they stay readable. No-op for parsed memory. */
void clfi_gguf_forget(const clf_gguf *file, const clf_gguf_tensor *tensor);

#endif
