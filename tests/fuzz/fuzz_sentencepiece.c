/* SPDX-License-Identifier: MIT */
/* Any bytes as a model of SentencePiece: what is read has pieces whose texts and table lie inside the bytes. */
#include <stdint.h>
#include <stdlib.h>

#include "io/sentencepiece.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(const char *part, size_t part_size, const char *whole, size_t size)
{
    if (part_size && (part < whole || part_size > size || (size_t)(part - whole) > size - part_size))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    clf_sentencepiece model;
    if (clfi_sentencepiece_parse(bytes, size, "fuzz.spm", &model) != CLF_OK) {
        if (clf_last_error()[0] == '\0')
            abort();
        return 0;
    }
    if (model.count == 0)
        abort();
    for (size_t i = 0; i < model.count; i++) {
        if (model.pieces[i].size == 0)
            abort();
        check_inside(model.pieces[i].text, model.pieces[i].size, bytes, size);
    }
    check_inside(model.charsmap, model.charsmap_size, bytes, size);
    clfi_sentencepiece_free(&model);
    return 0;
}
