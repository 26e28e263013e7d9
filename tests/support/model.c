/* SPDX-License-Identifier: MIT */
/* Finds the directory of a real model, all-MiniLM-L6-v2, for tests that need one. */
#include "support/model.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

const char *test_model_directory(void)
{
    static char path[4096];
    const char *given = getenv("CLF_MODEL_DIR");
    char *cache = NULL;
    if (given && given[0])
        return given;
    if (clfi_user_directory("XDG_CACHE_HOME", ".cache", &cache) == CLF_OK)
        snprintf(path, sizeof path, "%s/models/all-MiniLM-L6-v2", cache);
    free(cache);
    bool exists;
    if (clfi_directory_exists(path, &exists) != CLF_OK || !exists) {
        fprintf(stderr, "skipped: no model in %s and CLF_MODEL_DIR is not set\n", path);
        exit(77);
    }
    return path;
}
