/* SPDX-License-Identifier: MIT */
/* Mutates files that hold [prefix][header size, little-endian][header][data]. Most mutations change the header alone and keep its size
 * field true, so that the fuzzer spends its time behind the size check and not on it. */
#ifndef CLF_FUZZ_FRAMED_H
#define CLF_FUZZ_FRAMED_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static size_t mutate_framed(uint8_t *data, size_t size, size_t max_size, unsigned seed, size_t field_at, size_t field_bytes)
{
    const size_t start = field_at + field_bytes;
    uint64_t declared = 0;
    if (seed % 8 == 0 || size < start)
        return LLVMFuzzerMutate(data, size, max_size);
    for (size_t i = 0; i < field_bytes; i++)
        declared |= (uint64_t)data[field_at + i] << 8 * i;
    const size_t header = declared < size - start ? (size_t)declared : size - start;
    const size_t tail = size - start - header;
    uint8_t *kept = malloc(tail + 1);
    memcpy(kept, data + start + header, tail);
    const size_t fresh = LLVMFuzzerMutate(data + start, header, max_size - start - tail);
    memcpy(data + start + fresh, kept, tail);
    free(kept);
    for (size_t i = 0; i < field_bytes; i++)
        data[field_at + i] = (uint8_t)((uint64_t)fresh >> 8 * i);
    return start + fresh + tail;
}

#endif
