/* SPDX-License-Identifier: MIT */
/* README's table of models and tasks says what the list of families says: every model_type once, with its tasks, and no other. */
#include <stdio.h>

#include "base/file.h"
#include "model/family.h"
#include "model/name_map.h"
#include "support/check.h"

/* The table's cells: line by line "| model types | tasks | ...". */
typedef struct row {
    char types[128], tasks[160];
} row;

static size_t read_table(row *rows, size_t most)
{
    clf_str text = CLF_STR_INIT;
    size_t count = 0;
    CHECK_OK(clfi_file_read(CLF_TEST_DATA "/../../README.md", 1 << 20, &text));
    const char *at = strstr(text.data, "| model_type |");
    assert_non_null(at);
    for (at = strchr(at, '\n') + 1, at = strchr(at, '\n') + 1; *at == '|' && count < most; at = strchr(at, '\n') + 1, count++)
        assert_int_equal(sscanf(at, "| %127[^|]| %159[^|]|", rows[count].types, rows[count].tasks), 2);
    for (size_t i = 1; i < count; i++) /* "the same" stands for the first row's tasks */
        if (strncmp(rows[i].tasks, "the same", 8) == 0)
            memcpy(rows[i].tasks, rows[0].tasks, sizeof rows[i].tasks);
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

static bool has_classifier(const clf_family *family)
{
    for (const clf_weight_name *name = family->names->head; name && name->role != CLF_WEIGHT_END; name++)
        if (name->role == CLF_WEIGHT_CLASSIFIER)
            return true;
    return false;
}

/* Each command of the table's second column, and what a family must have for it. */
static void check_tasks(const clf_family *family, const char *cell)
{
    const bool embeds = (family->tasks & CLF_TASK_EMBED) != 0, generates = (family->tasks & CLF_TASK_GENERATE) != 0;
    const bool has_source = family->names->encoder != NULL, translates = generates && has_source, chats = generates && !has_source;
    const struct {
        const char *name;
        bool is_done;
    } tasks[] = {{"embed", embeds},
                 {"similarity", embeds},
                 {"search", embeds},
                 {"attention", embeds},
                 {"rerank", has_classifier(family)},
                 {"classify", has_classifier(family)},
                 {"generate", generates},
                 {"logits", generates},
                 {"translate", translates},
                 {"chat", chats},
                 {"perplexity", chats},
                 {"pronounce", (family->tasks & CLF_TASK_PRONOUNCE) != 0}};
    for (size_t i = 0; i < COUNT(tasks); i++)
        CHECK(has_name(cell, tasks[i].name) == tasks[i].is_done, "%s: %s: README says \"%s\"", family->model_type, tasks[i].name, cell);
}

static void readme_table(void **state)
{
    row rows[32];
    const size_t count = read_table(rows, COUNT(rows));
    size_t listed = 0, families = 0;
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (const char *at = rows[i].types; (at = strchr(at, ',')); at++)
            listed++;
    for (; clfi_family_at(families); families++) {
        const clf_family *family = clfi_family_at(families);
        const row *found = NULL;
        for (size_t i = 0; i < count; i++)
            if (has_name(rows[i].types, family->model_type))
                found = &rows[i];
        CHECK(found != NULL, "README's table lacks model_type %s", family->model_type);
        check_tasks(family, found->tasks);
    }
    assert_true(families > 0);
    assert_int_equal(listed + count, families);
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
