/* SPDX-License-Identifier: MIT */
/* The table of file types. */
#include "io/gguf_file_type.h"

#include "base/alloc.h"

static const struct {
    int64_t number;
    const char *name;
    bool is_written;
    clf_weight_type type; /* of those that are written */
} rows[] = {
    {.number = 0, .name = "f32", .is_written = true, .type = CLF_WEIGHT_F32},
    {.number = 1, .name = "f16", .is_written = true, .type = CLF_WEIGHT_F16},
    {.number = 2, .name = "q4_0", .is_written = true, .type = CLF_WEIGHT_Q4_0},
    {.number = 3, .name = "q4_1"},
    {.number = 7, .name = "q8_0", .is_written = true, .type = CLF_WEIGHT_Q8_0},
    {.number = 8, .name = "q5_0"},
    {.number = 9, .name = "q5_1"},
    {.number = 10, .name = "q2_k"},
    {.number = 11, .name = "q3_k_s"},
    {.number = 12, .name = "q3_k_m"},
    {.number = 13, .name = "q3_k_l"},
    {.number = 14, .name = "q4_k_s"},
    {.number = 15, .name = "q4_k_m"},
    {.number = 16, .name = "q5_k_s"},
    {.number = 17, .name = "q5_k_m"},
    {.number = 18, .name = "q6_k"},
    {.number = 32, .name = "bf16"},
};

const char *clfi_gguf_file_type_name(int64_t number)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].number == number)
            return rows[i].name;
    return NULL;
}

bool clfi_gguf_file_type_of(clf_weight_type type, uint64_t *out)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].is_written && rows[i].type == type) {
            *out = (uint64_t)rows[i].number;
            return true;
        }
    return false;
}
