/* SPDX-License-Identifier: MIT */
/* Reads the languages of a model from the YAML at the top of its README.md: a scalar, a list in brackets, or one "- name" per line. */
#include "cli/model_card.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { CARD_BYTES = 4 << 20, MOST_NAME = 24 };

/* Appends the names in text[0..size): "en", "[en, 'de']". Skips words that are too long or do not begin with a letter. Returns false if
 * memory is short. */
static bool add_names(json_t *names, const char *text, size_t size)
{
    static const char separators[] = " \t\r[],\"'-";
    bool is_whole = true;
    for (size_t at = 0; at < size && text[at] != '#';) {
        size_t length = 0;
        while (at + length < size && (!strchr(separators, text[at + length]) || (length && text[at + length] == '-')))
            length++;
        if (length && length <= MOST_NAME && text[at] >= 'A' && text[at] <= 'z')
            is_whole &= json_array_append_new(names, json_stringn(text + at, length)) == 0;
        at += length + 1;
    }
    return is_whole;
}

/* Appends the names under `language` in the front matter, which stands between two lines "---". false: no memory. */
static bool read_front_matter(const char *text, json_t *names)
{
    static const char key[] = "language:";
    bool is_whole = true, is_list = false;
    if (strncmp(text, "---\n", 4) != 0 && strncmp(text, "---\r\n", 5) != 0)
        return true;
    for (const char *line = strchr(text, '\n'); line && *++line; line = strchr(line, '\n')) {
        const size_t size = strcspn(line, "\n");
        const bool is_item = line[strspn(line, " ")] == '-' && strncmp(line, "---", 3) != 0;
        if (strncmp(line, "---", 3) == 0)
            break;
        if (strncmp(line, key, sizeof key - 1) == 0) {
            is_whole &= add_names(names, line + sizeof key - 1, size - (sizeof key - 1));
            is_list = true;
        } else if (is_list && is_item) {
            is_whole &= add_names(names, line, size);
        } else {
            is_list = false;
        }
    }
    return is_whole;
}

clf_status cli_card_languages(const char *directory, json_t **out)
{
    clf_str text = CLF_STR_INIT;
    char *path = NULL;
    clf_status st = clfi_file_find(directory, "README.md", &path);
    *out = NULL;
    if (st == CLF_OK && path)
        st = clfi_file_read(path, CARD_BYTES, &text);
    free(path);
    json_t *names = st == CLF_OK ? json_array() : NULL;
    if (st == CLF_OK && (!names || !read_front_matter(clfi_str_text(&text), names)))
        st = clfi_fail(CLF_OUT_OF_MEMORY, "malloc: not enough memory for the languages of a model");
    clfi_str_free(&text);
    if (st == CLF_OK && json_array_size(names) > 0)
        *out = names;
    else
        json_decref(names);
    return st == CLF_OUT_OF_MEMORY ? st : CLF_OK;
}
