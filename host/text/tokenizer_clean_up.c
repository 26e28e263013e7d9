/* SPDX-License-Identifier: MIT */
/* Removes spaces from decoded texts. */
#include "text/tokenizer_clean_up.h"

#include <string.h>

#include "io/json.h"
#include "text/decoder.h"

/* Joins the tokens to one text, then makes the replacements of transformers in their order. */
static const char clean_up[] =
    "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},"
#define REPLACE(from, to) "{\"type\":\"Replace\",\"pattern\":{\"String\":\"" from "\"},\"content\":\"" to "\"}"
    REPLACE(" .", ".") "," REPLACE(" ?", "?") "," REPLACE(" !", "!") "," REPLACE(" ,", ",") "," REPLACE(" ' ", "'") ","
    REPLACE(" n't", "n't") "," REPLACE(" 'm", "'m") "," REPLACE(" 's", "'s") "," REPLACE(" 've", "'ve") "," REPLACE(" 're", "'re")
#undef REPLACE
    "]}";

/* Without a decoder, spaces join the tokens. This decoder does the same, since no token has its prefix. */
static const char joined[] = "{\"type\":\"WordPiece\",\"prefix\":\"\xef\xb7\x90\",\"cleanup\":false}";

static clf_status append(const char *text, const char *name, clf_tokenizer *tokenizer)
{
    json_t *json;
    CLF_TRY(clfi_json_parse(text, strlen(text), name, &json));
    const clf_status st = clfi_chain_read(json, name, &clfi_decoders, &tokenizer->decoders);
    json_decref(json);
    return st;
}

clf_status clfi_tokenizer_clean_up(const json_t *config, const char *name, clf_tokenizer *tokenizer)
{
    bool cleans, is_forced;
    CLF_TRY(clfi_json_opt_bool(config, name, "clean_up_tokenization_spaces", false, &cleans));
    CLF_TRY(clfi_json_opt_bool(config, name, "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output", false, &is_forced));
    if (!cleans || (strcmp(tokenizer->kind->part.type, "BPE") == 0 && !is_forced))
        return CLF_OK;
    if (!tokenizer->has_decoder)
        CLF_TRY(append(joined, name, tokenizer));
    tokenizer->has_decoder = true;
    return append(clean_up, name, tokenizer);
}
