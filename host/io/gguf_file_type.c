/* SPDX-License-Identifier: MIT */
/* The tables of file types, and of the types of tensors that are not read. */
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
    {.number = 4, .name = "q4_1_some_f16"},
    {.number = 5, .name = "q4_2"},
    {.number = 6, .name = "q4_3"},
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

bool clfi_gguf_file_type_of(clf_weight_type type, uint64_t *out)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].is_written && rows[i].type == type) {
            *out = (uint64_t)rows[i].number;
            return true;
        }
    return false;
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
