/* SPDX-License-Identifier: MIT */
/* The note on tokenizers of old GGUF files. */
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
            "clformer: %s: no " CLFI_GGUF_TOKEN_PRE ": texts are cut as \"" CLFI_VOCABULARY_CUT_DEFAULT
            "\", perhaps not as the model learned it (a newer converter writes the key)\n",
            path);
}
