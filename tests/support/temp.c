/* SPDX-License-Identifier: MIT */
/* Makes temporary directories by POSIX calls only, so that tests of the library's own file functions do not depend on these. */
#include "support/temp.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

void temp_directory_make(char path[TEMP_PATH_BYTES])
{
    const char *base = getenv("TMPDIR");
    snprintf(path, TEMP_PATH_BYTES, "%s/clf-test-XXXXXX", base && base[0] ? base : "/tmp");
    CHECK(mkdtemp(path), "mkdtemp %s", path);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

void temp_directory_remove(const char *path)
{
    CHECK(nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0, "remove %s", path);
}

char temp_root[TEMP_PATH_BYTES];

int temp_setup(void **state)
{
    (void)state;
    temp_directory_make(temp_root);
    return 0;
}

int temp_teardown(void **state)
{
    (void)state;
    temp_directory_remove(temp_root);
    return 0;
}

const char *temp_path(const char *directory, const char *name, char path[TEMP_PATH_BYTES])
{
    CHECK(snprintf(path, TEMP_PATH_BYTES, "%s/%s", directory, name) < TEMP_PATH_BYTES, "path too long");
    return path;
}

const char *temp_file(const char *directory, const char *name, const void *data, size_t size, char path[TEMP_PATH_BYTES])
{
    FILE *stream = fopen(temp_path(directory, name, path), "wb");
    CHECK(stream, "create %s", path);
    CHECK(fwrite(data, 1, size, stream) == size, "write %s", path);
    CHECK(fclose(stream) == 0, "close %s", path);
    return path;
}

void temp_file_below(const char *root, const char *path, const void *data, size_t size)
{
    char place[TEMP_PATH_BYTES];
    temp_path(root, path, place);
    for (char *slash = strchr(place + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        CHECK(mkdir(place, 0777) == 0 || errno == EEXIST, "mkdir %s", place);
        *slash = '/';
    }
    temp_file(root, path, data, size, place);
}

size_t temp_directory_entries(const char *path)
{
    size_t count = 0;
    DIR *directory = opendir(path);
    CHECK(directory, "open %s", path);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}
