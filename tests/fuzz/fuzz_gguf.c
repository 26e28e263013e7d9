/* SPDX-License-Identifier: MIT */
/* Any bytes as a GGUF file: what opens holds tensors that lie inside it, whose weights can be read, and metadata that can be walked. */
#include <stdint.h>
#include <stdlib.h>

#include "io/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_tensors(const clf_gguf *file, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < clfi_gguf_count(file); i++) {
        const clf_gguf_tensor *t = clfi_gguf_at(file, i);
        const clf_weight_type_info *info = clfi_weight_type_info(t->type);
        double block[CLFI_WEIGHT_BLOCK_MOST];
        if (clfi_gguf_find(file, t->name) != t || t->data != data + t->offset || t->offset > size || t->bytes > size - t->offset)
            abort();
        for (size_t at = 0; at < t->bytes; at += (size_t)info->block_bytes)
            clfi_weight_decode_f64(t->type, (const uint8_t *)t->data + at, 1, block);
    }
}

static void read_values(const clf_gguf *file)
{
    for (size_t i = 0; i < clfi_gguf_value_count(file); i++) {
        const clf_gguf_value *value = clfi_gguf_value_at(file, i);
        clf_gguf_string *strings = value->element == CLF_GGUF_STRING ? malloc((value->count + 1) * sizeof *strings) : NULL;
        double number, sum = 0;
        if (strings && clfi_gguf_strings(value, strings))
            for (size_t j = 0; j < value->count; j++)
                sum += (double)strings[j].length + (strings[j].length ? strings[j].data[strings[j].length - 1] : 0);
        for (size_t j = 0; !strings && j < value->count; j++)
            sum += clfi_gguf_number(value, j, &number) ? number : 0;
        free(strings);
        (void)sum;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clf_gguf *file;
    if (clfi_gguf_parse(data, size, "fuzz.gguf", &file) != CLF_OK) {
        if (clf_last_error()[0] == '\0')
            abort();
        return 0;
    }
    read_tensors(file, data, size);
    read_values(file);
    clfi_gguf_close(file);
    return 0;
}
