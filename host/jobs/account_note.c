/* SPDX-License-Identifier: MIT */
/* The note on unknown keys. */
#include "jobs/account_note.h"

#include <stdbool.h>
#include <stdio.h>

#include "console/progress.h"
#include "model/directory_account.h"

/* A list that cannot be made is no reason to stop: the model is open. */
void cli_account_note(const char *path)
{
    static bool is_told;
    clf_directory_account account = CLF_DIRECTORY_ACCOUNT_INIT;
    if (!is_told && clfi_account_modules(path, &account) == CLF_OK && json_array_size(account.unknown) > 0) {
        is_told = true;
        cli_line_clear();
        for (size_t i = 0; i < json_array_size(account.unknown); i++)
            fprintf(stderr, "clformer: %s: %s: an unknown key, which is not followed (the result may be another one than it asks for)\n",
                    path, json_string_value(json_array_get(account.unknown, i)));
    }
    clfi_directory_account_clear(&account);
}
