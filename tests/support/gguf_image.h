/* SPDX-License-Identifier: MIT */
/* Builds GGUF files in memory for tests, whole and broken, with tables of broken files and the failures that they must cause. */
#ifndef CLF_TEST_GGUF_IMAGE_H
#define CLF_TEST_GGUF_IMAGE_H

#include "support/check.h"

/* A file that is being built. */
typedef struct image {
    uint8_t bytes[4096];
    size_t size;
} image;

static inline void put_bytes(image *f, const void *bytes, size_t size)
{
    assert_true(f->size + size <= sizeof f->bytes);
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

/* Appends the low `bytes` bytes of the value, the lowest first, padded with zeros. */
static inline void put(image *f, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, value >>= 8)
        put_bytes(f, &(uint8_t){(uint8_t)value}, 1);
}

static inline void put_text(image *f, const char *text)
{
    put(f, strlen(text), 8);
    put_bytes(f, text, strlen(text));
}

static inline void begin(image *f, uint64_t tensors, uint64_t values)
{
    f->size = 0;
    put_bytes(f, "GGUF", 4);
    put(f, 3, 4);
    put(f, tensors, 8);
    put(f, values, 8);
}

static inline void put_key(image *f, const char *key, uint32_t type)
{
    put_text(f, key);
    put(f, type, 4);
}

static inline void put_tensor(image *f, const char *name, int rank, const uint64_t *sizes, uint32_t type, uint64_t offset)
{
    put_text(f, name);
    put(f, (uint64_t)rank, 4);
    for (int i = 0; i < rank; i++)
        put(f, sizes[i], 8);
    put(f, type, 4);
    put(f, offset, 8);
}

/* Appends zeros up to the next multiple of `alignment`, then `size` bytes of data. */
static inline void put_data(image *f, size_t alignment, size_t size)
{
    while (f->size % alignment)
        put(f, 0, 1);
    for (size_t i = 0; i < size; i++)
        put(f, 0x11, 1);
}

#define SIZES(...) ((const uint64_t[]){__VA_ARGS__})

static inline void put_uint(image *f, const char *key, uint32_t value)
{
    put_key(f, key, 4);
    put(f, value, 4);
}

static inline void put_float(image *f, const char *key, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(f, key, 6);
    put(f, bits, 4);
}

static inline void put_string(image *f, const char *key, const char *value)
{
    put_key(f, key, 8);
    put_text(f, value);
}

/* A broken file: readers must refuse it with this status and a message that contains `part`. */
typedef struct broken_file {
    const char *name;
    void (*make)(image *f);
    clf_status status;
    const char *part;
} broken_file;

#define MAKE(name, ...)               \
    static void make_##name(image *f) \
    {                                 \
        f->size = 0;                  \
        __VA_ARGS__;                  \
    }

#define ROW(name, status, part)          \
    {                                    \
#name, make_##name, status, part \
    }

#endif
