/* SPDX-License-Identifier: MIT */
/* Writes safetensors files. */
#include "support/write_safetensors.h"

#include "base/file.h"
#include "support/check.h"

void write_safetensors(const char *path, const clf_file_tensor *tensors, size_t count)
{
    clf_str header = CLF_STR_INIT, data = CLF_STR_INIT;
    CHECK_OK(clfi_str_append(&header, "\0\0\0\0\0\0\0\0{", 9));
    for (size_t i = 0; i < count; i++) {
        const clf_file_tensor *t = &tensors[i];
        size_t bytes = 0;
        assert_true(clfi_file_bytes(t->dtype, t->rank, t->dim, &bytes));
        CHECK_OK(
            clfi_str_appendf(&header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", i ? "," : "", t->name, clfi_file_dtype_name(t->dtype)));
        for (int d = 0; d < t->rank; d++)
            CHECK_OK(clfi_str_appendf(&header, "%s%lld", d ? "," : "", (long long)t->dim[d]));
        CHECK_OK(clfi_str_appendf(&header, "],\"data_offsets\":[%zu,%zu]}", data.length, data.length + bytes));
        CHECK_OK(clfi_str_append(&data, t->data, bytes));
    }
    CHECK_OK(clfi_str_append_char(&header, '}'));
    while (header.length % 8) /* data starts at a multiple of 8, which aligns its elements */
        CHECK_OK(clfi_str_append_char(&header, ' '));
    for (size_t i = 0; i < 8; i++)
        header.data[i] = (char)((header.length - 8) >> 8 * i);
    CHECK_OK(clfi_str_append(&header, clfi_str_text(&data), data.length));
    CHECK_OK(clfi_file_write(path, header.data, header.length));
    clfi_str_free(&header);
    clfi_str_free(&data);
}
