/* SPDX-License-Identifier: MIT */
/* The tables of file types, and of the types of tensors that are not read. */
#include "io/gguf_file_type.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define WRITTEN(MOST, BETTER, TABLE, HEAD) \
    .is_written = true, .most = CLF_WEIGHT_##MOST, .better = CLF_WEIGHT_##BETTER, .table = CLF_WEIGHT_##TABLE, .head = CLF_WEIGHT_##HEAD

static const clf_gguf_file_type rows[] = {
    {.number = 0, .name = "f32", WRITTEN(F32, F32, F32, F32)},
    {.number = 1, .name = "f16", WRITTEN(F16, F16, F16, F16)},
    {.number = 2, .name = "q4_0", WRITTEN(Q4_0, Q4_0, Q8_0, Q8_0)},
    {.number = 3, .name = "q4_1"},
    {.number = 4, .name = "q4_1_some_f16"},
    {.number = 5, .name = "q4_2"},
    {.number = 6, .name = "q4_3"},
    {.number = 7, .name = "q8_0", WRITTEN(Q8_0, Q8_0, Q8_0, Q8_0)},
    {.number = 8, .name = "q5_0"},
    {.number = 9, .name = "q5_1"},
    {.number = 10, .name = "q2_k"},
    {.number = 11, .name = "q3_k_s"},
    {.number = 12, .name = "q3_k_m"},
    {.number = 13, .name = "q3_k_l"},
    {.number = 14, .name = "q4_k_s"},
    {.number = 15, .name = "q4_k_m", WRITTEN(Q4_K, Q6_K, Q4_K, Q6_K)},
    {.number = 16, .name = "q5_k_s"},
    {.number = 17, .name = "q5_k_m", WRITTEN(Q5_K, Q6_K, Q5_K, Q6_K)},
    {.number = 18, .name = "q6_k", WRITTEN(Q6_K, Q6_K, Q6_K, Q6_K)},
    {.number = 19, .name = "iq2_xxs"},
    {.number = 20, .name = "iq2_xs"},
    {.number = 21, .name = "q2_k_s"},
    {.number = 22, .name = "iq3_xs"},
    {.number = 23, .name = "iq3_xxs"},
    {.number = 24, .name = "iq1_s"},
    {.number = 25, .name = "iq4_nl"},
    {.number = 26, .name = "iq3_s"},
    {.number = 27, .name = "iq3_m"},
    {.number = 28, .name = "iq2_s"},
    {.number = 29, .name = "iq2_m"},
    {.number = 30, .name = "iq4_xs"},
    {.number = 31, .name = "iq1_m"},
    {.number = 32, .name = "bf16"},
    {.number = 33, .name = "q4_0_4_4"},
    {.number = 34, .name = "q4_0_4_8"},
    {.number = 35, .name = "q4_0_8_8"},
    {.number = 36, .name = "tq1_0"},
    {.number = 37, .name = "tq2_0"},
    {.number = 38, .name = "mxfp4_moe"},
    {.number = 39, .name = "nvfp4"},
    {.number = 40, .name = "q1_0"},
    {.number = 41, .name = "q2_0"},
};

const char *clfi_gguf_file_type_name(int64_t number)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].number == number)
            return rows[i].name;
    return NULL;
}

clf_status clfi_gguf_file_type_find(const char *name, const clf_gguf_file_type **out)
{
    char list[128];
    size_t used = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!rows[i].is_written)
            continue;
        if (strcmp(rows[i].name, name) == 0) {
            *out = &rows[i];
            return CLF_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", rows[i].name);
    }
    CLF_FAIL(CLF_INVALID_ARGUMENT, "weights as %s: expected one of %s", name, list);
}

/* ggml's types that base/weight_type.h has not, some of them of former versions: https://github.com/ggml-org/ggml, include/ggml.h. */
static const struct {
    uint32_t number;
    const char *name;
} unread[] = {
    {4, "q4_2"},      {5, "q4_3"},      {9, "q8_1"},   {10, "q2_k"},   {11, "q3_k"},       {15, "q8_k"},       {16, "iq2_xxs"},
    {17, "iq2_xs"},   {18, "iq3_xxs"},  {19, "iq1_s"}, {20, "iq4_nl"}, {21, "iq3_s"},      {22, "iq2_s"},      {23, "iq4_xs"},
    {24, "i8"},       {25, "i16"},      {26, "i32"},   {27, "i64"},    {28, "f64"},        {29, "iq1_m"},      {31, "q4_0_4_4"},
    {32, "q4_0_4_8"}, {33, "q4_0_8_8"}, {34, "tq1_0"}, {35, "tq2_0"},  {36, "iq4_nl_4_4"}, {37, "iq4_nl_4_8"}, {38, "iq4_nl_8_8"},
    {39, "mxfp4"},    {40, "nvfp4"},    {41, "q1_0"},  {42, "q2_0"},
};

const char *clfi_gguf_unread_type_name(uint32_t number)
{
    for (size_t i = 0; i < COUNT(unread); i++)
        if (unread[i].number == number)
            return unread[i].name;
    return NULL;
}
