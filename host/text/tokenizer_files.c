/* SPDX-License-Identifier: MIT */
/* The names of a tokenizer's files. */
#include "text/tokenizer_files.h"

#include <stdlib.h>
#include <string.h>

#include "io/adapter_directory.h"
#include "io/model_directory.h"

const char *const clfi_tokenizer_files[CLF_TOKENIZER_FILE_COUNT] = {
#define X(id, name) name,
    CLFI_TOKENIZER_FILES(X)
#undef X
};

bool clfi_is_tokenizer_file(const char *name)
{
    for (int i = 0; i < CLF_TOKENIZER_FILE_COUNT; i++)
        if (strcmp(name, clfi_tokenizer_files[i]) == 0)
            return true;
    return false;
}

clf_status clfi_tokenizer_place(const char *directory, char **out)
{
    char *network;
    CLF_TRY(clfi_network_directory(directory, &network));
    const clf_status st = clfi_adapter_place(network, clfi_tokenizer_files, CLF_TOKENIZER_FILE_COUNT, out);
    free(network);
    return st;
}
