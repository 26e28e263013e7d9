/* SPDX-License-Identifier: MIT */
/* Any bytes as a safetensors file: what opens holds tensors that lie inside it, and all their bytes can be read. */
#include <stdint.h>
#include <stdlib.h>

#include "framed.h"
#include "io/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clf_safetensors *file;
    if (clfi_safetensors_parse(data, size, "fuzz.safetensors", &file) != CLF_OK) {
        if (clf_last_error()[0] == '\0')
            abort();
        return 0;
    }
    size_t covered = 0;
    for (size_t i = 0; i < clfi_safetensors_count(file); i++) {
        const clf_file_tensor *t = clfi_safetensors_at(file, i);
        const size_t element = clfi_file_dtype_bytes(t->dtype), count = t->bytes / element;
        if (clfi_safetensors_find(file, t->name) != t || t->data != data + t->offset || t->offset > size || t->bytes > size - t->offset)
            abort();
        float *values = malloc((count + 1) * sizeof *values);
        (void)clfi_file_to_f32(t->dtype, false, t->data, (ptrdiff_t)element, count, values);
        free(values);
        covered += t->bytes;
    }
    if (covered > size)
        abort();
    clfi_safetensors_close(file);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return mutate_framed(data, size, max_size, seed, 0, 8);
}
