/* SPDX-License-Identifier: MIT */
/* 128-bit content hash through xxHash. */
#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/file.h"

enum { CHUNK_BYTES = 1 << 18 };

static void hash_text(XXH128_hash_t hash, char out[CLFI_HASH_TEXT_BYTES])
{
    snprintf(out, CLFI_HASH_TEXT_BYTES, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

void clfi_hash(const void *data, size_t size, char out[CLFI_HASH_TEXT_BYTES])
{
    hash_text(XXH3_128bits(data, size), out);
}

/* XXH3_state_t under the project's name. */
clf_status clfi_hasher_create(clf_hasher **out)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for a hash");
    XXH3_128bits_reset(state);
    *out = (clf_hasher *)state;
    return CLF_OK;
}

void clfi_hasher_destroy(clf_hasher *hasher)
{
    XXH3_freeState((XXH3_state_t *)hasher);
}

void clfi_hasher_add(clf_hasher *hasher, const void *data, size_t size)
{
    XXH3_128bits_update((XXH3_state_t *)hasher, data, size);
}

clf_status clfi_hasher_add_file(clf_hasher *hasher, const char *path)
{
    int fd;
    char *chunk;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_alloc(CHUNK_BYTES, 1, "file to hash", &chunk));
    if ((st = clfi_file_open_regular(path, &fd)) != CLF_OK) {
        free(chunk);
        return st;
    }
    for (;;) {
        const ssize_t got = read(fd, chunk, CHUNK_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            st = clfi_fail_errno("read", path);
        if (got <= 0)
            break;
        clfi_hasher_add(hasher, chunk, (size_t)got);
    }
    close(fd);
    free(chunk);
    return st;
}

void clfi_hasher_text(const clf_hasher *hasher, char out[CLFI_HASH_TEXT_BYTES])
{
    hash_text(XXH3_128bits_digest((const XXH3_state_t *)hasher), out);
}
