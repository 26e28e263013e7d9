/* SPDX-License-Identifier: MIT */
/* Any bytes as vocab.txt and tokenizer_config.json, then any text: [vocab.txt] U+0000 [config, none if empty] U+0000 [text]. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Cuts off the bytes up to the next U+0000, or all of them. */
static const char *field(const char **rest, size_t *rest_size, size_t *size)
{
    const char *start = *rest, *end = *rest_size ? memchr(start, '\0', *rest_size) : NULL;
    *size = end ? (size_t)(end - start) : *rest_size;
    *rest_size -= *size + (end != NULL);
    *rest = start + *size + (end != NULL);
    return start;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t lines_size, config_size;
    const char *lines = field(&text, &size, &lines_size), *config = field(&text, &size, &config_size);
    clf_tokenizer *tokenizer;
    if (clfi_tokenizer_from_vocabulary(lines, lines_size, "vocab.txt", config_size ? config : NULL, config_size, "config.json",
                                       &tokenizer) != CLF_OK) {
        if (clf_last_error()[0] == '\0')
            abort();
        return 0;
    }
    clf_encoding encoding = CLF_ENCODING_INIT;
    if (clfi_tokenizer_encode(tokenizer, text, size, NULL, 0, NULL, &encoding) != CLF_OK || encoding.length < 2)
        abort();
    for (size_t i = 0; i < encoding.length; i++)
        if (!clf_tokenizer_token(tokenizer, encoding.ids[i]) || encoding.type_ids[i] != 0)
            abort();
    clfi_encoding_free(&encoding);
    clf_tokenizer_destroy(tokenizer);
    return 0;
}
