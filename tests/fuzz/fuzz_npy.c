/* SPDX-License-Identifier: MIT */
/* Any bytes as a .npy file: what opens is read whole and in part, and both agree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "framed.h"
#include "io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clf_npy npy;
    if (clfi_npy_parse(data, size, "fuzz.npy", &npy) != CLF_OK) {
        if (clf_last_error()[0] == '\0')
            abort();
        return 0;
    }
    if (npy.count > size)
        abort();
    float *all = malloc((npy.count + 1) * sizeof *all);
    float *part = malloc((npy.count + 1) * sizeof *part);
    double *doubles = malloc((npy.count + 1) * sizeof *doubles);
    const size_t first = npy.count / 3, count = npy.count / 2;
    if (clfi_npy_read_f32(&npy, 0, npy.count, all) != CLF_OK || clfi_npy_read_f64(&npy, 0, npy.count, doubles) != CLF_OK ||
        clfi_npy_read_f32(&npy, first, count, part) != CLF_OK || memcmp(part, all + first, count * sizeof *all) != 0)
        abort();
    free(all);
    free(part);
    free(doubles);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return mutate_framed(data, size, max_size, seed, 8, size > 6 && data[6] == 1 ? 2 : 4);
}
