/* SPDX-License-Identifier: MIT */
/* Converts GGUF files: gives the metadata and tensors of a file to the writer. */
#include "io/gguf_convert.h"

#include <string.h>

#include "io/gguf_file.h"
#include "io/gguf_parts.h"

static const clf_gguf_tensor *tensor_of(const void *user, size_t index)
{
    return clfi_gguf_at(user, index);
}

static clf_status read(const void *user, size_t index, size_t first, size_t count, float *out)
{
    const clf_gguf_tensor *t = clfi_gguf_at(user, index);
    const clf_weight_type_info *info = clfi_weight_type_info(t->type);
    const size_t weights = (size_t)info->block_weights;
    clfi_weight_decode_f32(t->type, (const uint8_t *)t->data + first / weights * (size_t)info->block_bytes, count / weights, out);
    return CLF_OK;
}

static void forget(const void *user, size_t index)
{
    clfi_gguf_forget(user, clfi_gguf_at(user, index));
}

static clf_status check(const void *user)
{
    for (size_t i = 0; i < clfi_gguf_part_count(user); i++)
        CLF_TRY(clfi_file_map_check(clfi_gguf_part_map(user, (int)i)));
    return CLF_OK;
}

static bool is_key(const clf_gguf_value *value, const char *key)
{
    return value->key.length == strlen(key) && memcmp(value->key.data, key, value->key.length) == 0;
}

static clf_status copy_values(const clf_gguf *file, clf_gguf_values *values)
{
    for (size_t i = 0; i < clfi_gguf_value_count(file); i++) {
        const clf_gguf_value *value = clfi_gguf_value_at(file, i);
        if (!is_key(value, CLFI_GGUF_FILE_TYPE) && !is_key(value, CLFI_GGUF_QUANTIZATION_VERSION) && !clfi_gguf_is_split_key(value))
            CLF_TRY(clfi_gguf_put_value(values, value));
    }
    return CLF_OK;
}

clf_status clfi_gguf_convert(const clf_gguf *file, const clf_gguf_file_type *type, const char *path, const clf_gguf_progress *progress,
                             clf_gguf_converted *out)
{
    clf_gguf_values values = CLF_GGUF_VALUES_INIT;
    const clf_gguf_source source = {.name = clfi_gguf_path(file),
                                    .alignment = file->alignment,
                                    .values = &values,
                                    .tensor_count = clfi_gguf_count(file),
                                    .tensor = tensor_of,
                                    .read = read,
                                    .forget = forget,
                                    .check = check,
                                    .user = file,
                                    .progress = progress};
    clf_status st = copy_values(file, &values);
    if (st == CLF_OK)
        st = clfi_gguf_write(&source, type, path, out);
    clfi_gguf_values_free(&values);
    return st;
}
