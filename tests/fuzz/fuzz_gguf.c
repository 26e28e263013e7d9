/* SPDX-License-Identifier: MIT */
/* Opens any bytes as a GGUF file. A file that opens holds tensors that lie inside it, whose weights can be read, and metadata that can be
 * walked. If it is a checkpoint, its configuration can be written and read by its family. If it has a tokenizer, that encodes and decodes.
 * */
#include <stdint.h>
#include <stdlib.h>

#include "io/checkpoint_gguf.h"
#include "io/gguf.h"
#include "model/family.h"
#include "text/tokenizer.h"
#include "text/tokenizer_gguf.h"

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

/* A status is OK, or has a reason. */
static bool is_good(clf_status st)
{
    if (st != CLF_OK && clf_last_error()[0] == '\0')
        abort();
    return st == CLF_OK;
}

static void read_checkpoint(const uint8_t *data, size_t size)
{
    clf_checkpoint *checkpoint;
    clf_checkpoint_tensor tensor, found;
    const clf_family *family;
    clf_network_config network;
    if (!is_good(clfi_checkpoint_parse_gguf(data, size, "fuzz.gguf", &checkpoint)))
        return;
    for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++)
        if (!clfi_checkpoint_find(checkpoint, tensor.name, &found) || found.data != tensor.data)
            abort();
    const json_t *config = clfi_checkpoint_config(checkpoint);
    char *json = json_dumps(config, 0);
    if (!json)
        abort(); /* it holds what JSON cannot */
    free(json);
    if (is_good(clfi_family_find(config, CLF_TASK_GENERATE, &family)) && is_good(family->read_config(config, &network)) &&
        (network.decoder.layers < 1 || network.decoder.width < 1 || network.decoder.attention.head_size < 1))
        abort();
    clfi_checkpoint_close(checkpoint);
}

/* Every id becomes a text again, one by one. */
static void decode(const clf_tokenizer *tokenizer, const clf_encoding *encoding)
{
    clf_token_decoder *decoder;
    clf_text text;
    if (!is_good(clf_token_decoder_create(tokenizer, 1, &decoder)))
        return;
    for (size_t i = 0; i < encoding->length; i++)
        if (!is_good(clf_token_decoder_push(decoder, encoding->ids[i], &text)))
            break;
    (void)is_good(clf_token_decoder_finish(decoder, &text));
    clf_token_decoder_destroy(decoder);
}

static void read_tokenizer(const clf_gguf *file)
{
    static const char text[] = "The cat's 12\xc2\xbd caf\xc3\xa9s  <s>\xe4\xbd\xa0\n a\xff\xcc\x81";
    clf_tokenizer *tokenizer;
    clf_encoding *encoding;
    if (!is_good(clfi_tokenizer_of_gguf(file, &tokenizer)))
        return;
    if (is_good(clf_encoding_create(&encoding))) {
        if (is_good(clf_tokenizer_encode(tokenizer, &(clf_text){text, sizeof text - 1}, NULL, NULL, encoding))) {
            for (size_t i = 0; i < encoding->length; i++)
                if (encoding->ids[i] < 0 || (size_t)encoding->ids[i] >= clf_tokenizer_vocabulary_size(tokenizer))
                    abort();
            decode(tokenizer, encoding);
        }
        clf_encoding_destroy(encoding);
    }
    clf_tokenizer_destroy(tokenizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clf_gguf *file;
    if (!is_good(clfi_gguf_parse(data, size, "fuzz.gguf", &file)))
        return 0;
    read_tensors(file, data, size);
    read_values(file);
    read_tokenizer(file);
    read_checkpoint(data, size);
    clfi_gguf_close(file);
    return 0;
}
