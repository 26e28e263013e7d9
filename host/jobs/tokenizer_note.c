/* SPDX-License-Identifier: MIT */
/* Prints a note on the tokenizers of old GGUF files. */
#include "jobs/tokenizer_note.h"

#include <stdbool.h>
#include <stdio.h>

#include "console/options.h"
#include "console/progress.h"
#include "io/gguf_keys.h"
#include "text/tokenizer_parts.h"
#include "text/vocabulary_cuts.h"

void cli_tokenizer_note(const clf_tokenizer *tokenizer, const char *path)
{
    static bool is_told;
    if (!tokenizer || !tokenizer->assumes_cut || is_told)
        return;
    is_told = true;
    cli_line_clear();
    fprintf(stderr,
            "clformer: %s: " CLFI_GGUF_TOKEN_PRE " is missing: texts are split as \"" CLFI_VOCABULARY_CUT_DEFAULT
            "\", which may differ from the model's training (convert the model again)\n",
            path);
}
