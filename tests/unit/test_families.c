/* SPDX-License-Identifier: MIT */
/* README's table of models says what the list of families says: every model_type in the rows of the kinds that it is, and no other. */
#include <stdio.h>

#include "base/file.h"
#include "model/family.h"
#include "model/name_map.h"
#include "support/check.h"

/* The table's cells: line by line "| kind | model types | ...". */
typedef struct row {
    char kind[128], types[160];
} row;

static size_t read_table(row *rows, size_t most)
{
    clf_str text = CLF_STR_INIT;
    size_t count = 0;
    CHECK_OK(clfi_file_read(CLF_TEST_DATA "/../../README.md", 1 << 20, &text));
    const char *at = strstr(text.data, "| kind | model_type |");
    assert_non_null(at);
    for (at = strchr(at, '\n') + 1, at = strchr(at, '\n') + 1; *at == '|' && count < most; at = strchr(at, '\n') + 1, count++)
        assert_int_equal(sscanf(at, "| %127[^|]| %159[^|]|", rows[count].kind, rows[count].types), 2);
    clfi_str_free(&text);
    return count;
}

/* Whether a comma-separated list has the name. */
static bool has_name(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == ' ' || at[length] == '\0' || at[length] == ';'))
            return true;
    return false;
}

#define SOME "embeddings by decoders" /* any with modules.json; the row names those that are published */

/* Whether a family is of the kind that a row of the table begins with. */
static bool is_kind(const clf_family *family, const char *kind)
{
    const bool embeds = (family->tasks & CLF_TASK_EMBED) != 0, generates = (family->tasks & CLF_TASK_GENERATE) != 0;
    const bool has_source = family->names->encoder != NULL;
    const struct {
        const char *kind;
        bool is_it;
    } kinds[] = {{"embeddings, rerankers, classifiers", embeds && !generates},
                 {SOME, generates && !has_source},
                 {"language models", generates && !has_source},
                 {"translation, summaries", generates && has_source}};
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (strncmp(kind, kinds[i].kind, strlen(kinds[i].kind)) == 0)
            return kinds[i].is_it;
    CHECK(false, "README's table has an unknown kind \"%s\"", kind);
    return false;
}

static void readme_table(void **state)
{
    row rows[32];
    const size_t count = read_table(rows, COUNT(rows));
    size_t listed = 0, wanted = 0, families = 0;
    (void)state;
    for (size_t i = 0; i < count; i++, listed++)
        for (const char *at = rows[i].types; (at = strchr(at, ',')); at++)
            listed++;
    for (; clfi_family_at(families); families++) {
        const clf_family *family = clfi_family_at(families);
        for (size_t i = 0; i < count; i++) {
            bool is_it = is_kind(family, rows[i].kind);
            if (strncmp(rows[i].kind, SOME, strlen(SOME)) == 0)
                is_it = is_it && has_name(rows[i].types, family->model_type);
            CHECK(has_name(rows[i].types, family->model_type) == is_it, "%s: README's row \"%s\" has \"%s\"", family->model_type,
                  rows[i].kind, rows[i].types);
            wanted += is_it;
        }
    }
    assert_true(families > 0 && count > 0);
    assert_int_equal(listed, wanted);
}

/* Fewer elements than heads: a head would have none, and what divides by its size came before what checks it. */
static void empty_heads(void **state)
{
    clf_network_config config;
    json_t *json = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "hidden_size", 5, "num_attention_heads", 6, "intermediate_size", 8,
                             "num_hidden_layers", 1, "vocab_size", 9, "max_position_embeddings", 16);
    size_t refused = 0;
    (void)state;
    assert_non_null(json);
    for (size_t i = 0; clfi_family_at(i); i++) {
        static const char *const names[] = {"llama", "mistral", "qwen2", "qwen3", "gemma", "phi3"};
        for (size_t j = 0; j < COUNT(names); j++)
            if (strcmp(clfi_family_at(i)->model_type, names[j]) == 0 && clfi_family_at(i)->read_config(json, &config) != CLF_OK)
                refused += strstr(clf_last_error(), "hidden_size is 5 for 6 heads") != NULL;
    }
    assert_int_equal(refused, 6);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(readme_table), cmocka_unit_test(empty_heads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
