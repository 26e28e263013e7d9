/* SPDX-License-Identifier: MIT */
/* Models in several GGUF files: whole, and with parts that are missing, mixed up or of other models. */
#include "io/gguf.h"

#include <stdio.h>
#include <unistd.h>

#include "support/gguf_image.h"
#include "support/temp.h"

enum { PARTS = 3 };

/* A part: its keys about the split, and its tensors. */
typedef struct split_part {
    const char *name; /* of the file; NULL: there is none */
    uint32_t number, count, tensors;
    const char *tensor, *more; /* more: the value of general.name; NULL: no such key */
    int alignment;             /* 0: the usual one */
} split_part;

#define NAME(n) "m-0000" #n "-of-00003.gguf"
#define WHOLE                                                                                                      \
    {                                                                                                              \
        {NAME(1), 0, 3, 3, "a", "tiny", 0}, {NAME(2), 1, 3, 3, "b", NULL, 64}, {NAME(3), 2, 3, 3, "c", "tiny", 0}, \
    }

static void put_short(image *f, const char *key, uint32_t value)
{
    put_key(f, key, 2);
    put(f, value, 2);
}

static void write_part(const char *directory, const split_part *p, uint8_t content)
{
    static image f;
    char path[TEMP_PATH_BYTES];
    const size_t alignment = p->alignment ? (size_t)p->alignment : 32;
    begin(&f, p->tensor ? 1 : 0, 3 + (p->more != NULL) + (p->alignment != 0));
    put_short(&f, "split.no", p->number);
    put_short(&f, "split.count", p->count);
    put_key(&f, "split.tensors.count", 5);
    put(&f, p->tensors, 4);
    if (p->more)
        put_string(&f, "general.name", p->more);
    if (p->alignment)
        put_uint(&f, "general.alignment", (uint32_t)p->alignment);
    if (p->tensor)
        put_tensor(&f, p->tensor, 1, SIZES(4), 0, 0);
    put_data(&f, alignment, 0);
    for (int i = 0; i < 16 && p->tensor; i++)
        put(&f, content, 1);
    temp_file(directory, p->name, f.bytes, f.size, path);
}

static void write_parts(char directory[TEMP_PATH_BYTES], const split_part parts[PARTS])
{
    temp_directory_make(directory);
    for (int i = 0; i < PARTS; i++)
        if (parts[i].name)
            write_part(directory, &parts[i], (uint8_t)(i + 1));
}

static void check_tensor(const clf_gguf *file, const char *name, int part)
{
    const clf_gguf_tensor *tensor = clfi_gguf_find(file, name);
    const uint8_t want[16] = {[0] = (uint8_t)(part + 1)};
    assert_non_null(tensor);
    CHECK(tensor->part == part && tensor->bytes == sizeof want && ((const uint8_t *)tensor->data)[15] == want[0], "tensor %s: part %d",
          name, tensor->part);
    CHECK(memcmp((const uint8_t *)clfi_gguf_part_map(file, part)->data + tensor->offset, tensor->data, tensor->bytes) == 0,
          "tensor %s: another offset", name);
}

static void whole(void **state)
{
    static const split_part rows[][PARTS] = {
        WHOLE, {{NAME(1), 0, 3, 2, NULL, "tiny", 0}, {NAME(2), 1, 3, 2, "b", NULL, 0}, {NAME(3), 2, 3, 2, "c", NULL, 0}}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
        clf_gguf *file;
        write_parts(directory, rows[i]);
        CHECK_OK(clfi_gguf_open(temp_path(directory, NAME(1), path), &file));
        assert_int_equal(clfi_gguf_part_count(file), PARTS);
        assert_int_equal(clfi_gguf_count(file), rows[i][0].tensors);
        for (int p = 0; p < PARTS; p++) {
            CHECK(strcmp(strrchr(clfi_gguf_part_path(file, p), '/') + 1, rows[i][p].name) == 0, "part %d is %s", p,
                  clfi_gguf_part_path(file, p));
            if (rows[i][p].tensor)
                check_tensor(file, rows[i][p].tensor, p);
        }
        assert_non_null(clfi_gguf_value(file, "general.name"));
        clfi_gguf_close(file);
        temp_directory_remove(directory);
    }
}

/* The whole model with one part replaced. */
static void broken(void **state)
{
    static const struct {
        int which;
        split_part part;
        const char *opened; /* NULL: the first */
        clf_status status;
        const char *message;
    } rows[] = {
        {1, {0}, NULL, CLF_NOT_FOUND, NAME(2) ": no such file: part 2 of 3 of the model in"},
        {0, {NAME(1), 0, 3, 3, "a", "tiny", 0}, NAME(2), CLF_UNSUPPORTED, "part 2 of 3 of a model (open the first part, "},
        {0, {NAME(1), 0, 3, 3, "a", "tiny", 0}, NAME(3), CLF_UNSUPPORTED, "m-00001-of-00003.gguf)"},
        {0, {"m.gguf", 0, 3, 3, "a", "tiny", 0}, "m.gguf", CLF_FORMAT, "expected a name that ends with -00001-of-00003.gguf"},
        {0, {"m-00001-of-00002.gguf", 0, 3, 3, "a", "tiny", 0}, "m-00001-of-00002.gguf", CLF_FORMAT, "ends with -00001-of-00003.gguf"},
        {0, {NAME(1), 7, 3, 3, "a", "tiny", 0}, NULL, CLF_FORMAT, "\"split.no\": expected an integer from 0 to 2, found uint16 7"},
        {0, {NAME(1), 0, 2, 3, "a", "tiny", 0}, NULL, CLF_FORMAT, "the first of 2 parts of a model: expected a name that ends with"},
        {1, {NAME(2), 2, 3, 3, "b", NULL, 0}, NULL, CLF_FORMAT, NAME(2) ": expected part 2 of 3, its keys say part 3 of 3"},
        {1, {NAME(2), 1, 4, 3, "b", NULL, 0}, NULL, CLF_FORMAT, "expected part 2 of 3, its keys say part 2 of 4"},
        {1, {NAME(2), 1, 3, 9, "b", NULL, 0}, NULL, CLF_FORMAT, "belongs to a model of 9 tensors, "},
        {2, {NAME(3), 2, 3, 3, "c", "other", 0}, NULL, CLF_FORMAT, "\"general.name\" differs from "},
        {0, {NAME(1), 0, 3, 3, "a", NULL, 0}, NULL, CLF_FORMAT, NAME(3) ": \"general.name\" is missing in "},
        {2, {NAME(3), 2, 3, 3, "b", NULL, 0}, NULL, CLF_FORMAT, "tensor \"b\" occurs twice"},
        {2, {NAME(3), 2, 3, 3, NULL, NULL, 0}, NULL, CLF_FORMAT, "expected 2, the number of tensors in all 3 parts, found 3"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        split_part parts[PARTS] = WHOLE;
        char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
        clf_gguf *file = NULL;
        parts[rows[i].which] = rows[i].part;
        write_parts(directory, parts);
        temp_path(directory, rows[i].opened ? rows[i].opened : NAME(1), path);
        CHECK_FAILS(clfi_gguf_open(path, &file), rows[i].status, rows[i].message);
        assert_null(file);
        temp_directory_remove(directory);
    }
}

/* A part that is cut short is refused by its own name. */
static void cut(void **state)
{
    const split_part parts[PARTS] = WHOLE;
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_gguf *file = NULL;
    (void)state;
    write_parts(directory, parts);
    assert_int_equal(truncate(temp_path(directory, NAME(3), path), 170), 0);
    CHECK_FAILS(clfi_gguf_open(temp_path(directory, NAME(1), path), &file), CLF_FORMAT, NAME(3));
    assert_null(file);
    temp_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole), cmocka_unit_test(broken), cmocka_unit_test(cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
