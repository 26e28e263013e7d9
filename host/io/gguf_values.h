/* SPDX-License-Identifier: MIT */
/* Metadata of a GGUF file that is to be written: keys and values in the bytes that the file will have, one after another. */
#ifndef CLFI_IO_GGUF_VALUES_H
#define CLFI_IO_GGUF_VALUES_H

#include "base/str.h"
#include "clformer/text.h"
#include "io/gguf.h"

/* Keys that describe the type of the file's tensors; conversions change them. */
#define CLFI_GGUF_FILE_TYPE "general.file_type"
#define CLFI_GGUF_QUANTIZATION_VERSION "general.quantization_version"

typedef struct clf_gguf_values {
    clf_str bytes;
    size_t count;
} clf_gguf_values;

#define CLF_GGUF_VALUES_INIT  \
    {                         \
        .bytes = CLF_STR_INIT \
    }

void clfi_gguf_values_free(clf_gguf_values *values); /* empty and usable again */

/* Each adds one key, which must not be there yet. OUT_OF_MEMORY alone. */
clf_status clfi_gguf_put_int(clf_gguf_values *values, const char *key, uint32_t value);   /* uint32 */
clf_status clfi_gguf_put_signed(clf_gguf_values *values, const char *key, int32_t value); /* int32 */
clf_status clfi_gguf_put_number(clf_gguf_values *values, const char *key, double value);  /* float32 */
clf_status clfi_gguf_put_bool(clf_gguf_values *values, const char *key, bool value);
clf_status clfi_gguf_put_text(clf_gguf_values *values, const char *key, const char *value);
clf_status clfi_gguf_put_texts(clf_gguf_values *values, const char *key, const clf_text *texts, size_t count);
clf_status clfi_gguf_put_ints(clf_gguf_values *values, const char *key, const int32_t *numbers, size_t count);  /* int32 */
clf_status clfi_gguf_put_numbers(clf_gguf_values *values, const char *key, const float *numbers, size_t count); /* float32 */

/* Copies a key with its value from another file. */
clf_status clfi_gguf_put_value(clf_gguf_values *values, const clf_gguf_value *value);

#endif
