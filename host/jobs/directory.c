/* SPDX-License-Identifier: MIT */
/* Lists the names of files in a directory. */
#include "jobs/directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

clf_status cli_directory_list(const char *directory, bool (*wanted)(const char *name), char ***names, size_t *count)
{
    size_t capacity = 0;
    clf_status st = CLF_OK;
    DIR *stream = opendir(directory);
    if (!stream)
        return clfi_fail_errno("opendir", directory);
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (!entry) {
            if (errno)
                st = clfi_fail_errno("readdir", directory);
            break;
        }
        if (wanted ? !wanted(entry->d_name) : entry->d_name[0] == '.')
            continue;
        CLF_GOTO(clfi_grow(names, &capacity, *count + 1, sizeof **names, "names of files"));
        CLF_GOTO(clfi_strdup(entry->d_name, &(*names)[*count]));
        ++*count;
    }
    if (*count)
        qsort(*names, *count, sizeof **names, by_name);
done:
    closedir(stream);
    return st;
}

void cli_directory_list_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}
