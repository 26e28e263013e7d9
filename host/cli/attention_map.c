/* SPDX-License-Identifier: MIT */
/* Computes attention weights of a model for a text or a word, with labels for rows and columns, and draws heat maps of them. */
#include "cli/attention_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/session.h"
#include "model/pronouncer.h"

/* Appends a copy of a label to a list that has room for it. */
static clf_status add_label(char **labels, size_t *count, const char *text, size_t size)
{
    CLF_TRY(clfi_strndup(text, size, &labels[*count]));
    ++*count;
    return CLF_OK;
}

static clf_status download(clf_tensor *tensor, cli_attention_map *map)
{
    const int64_t *dim = clf_tensor_dim(tensor);
    map->heads = (size_t)dim[0];
    if ((size_t)dim[1] != map->rows || (size_t)dim[2] != map->columns)
        CLF_FAIL(CLF_INTERNAL, "attention weights are [%lld,%lld,%lld], labels [%zu,%zu]", (long long)dim[0], (long long)dim[1],
                 (long long)dim[2], map->rows, map->columns);
    if (!map->values) /* else a loss of the device ended the first reading */
        CLF_TRY(clfi_alloc(clf_tensor_count(tensor), sizeof *map->values, "attention weights", &map->values));
    return clf_tensor_read_f32(tensor, map->values, clf_tensor_count(tensor));
}

static clf_status encode(const clf_model *model, const char *text, size_t max_tokens, clf_encoding *encoding)
{
    const size_t limit = max_tokens ? max_tokens : (size_t)model->info.max_tokens;
    const clf_encode_options options = {.add_special_tokens = true, .max_tokens = limit};
    CLF_TRY(clfi_tokenizer_encode(model->tokenizer, text, strlen(text), NULL, 0, &options, encoding));
    if (encoding->length == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "attention: the text has no tokens");
    if (encoding->truncated)
        fprintf(stderr, "clformer: the text was longer than %zu %s and cut there\n", limit, clfi_plural(limit, "token", "tokens"));
    return CLF_OK;
}

static clf_status label_tokens(const clf_model *model, const clf_encoding *encoding, cli_attention_map *map)
{
    CLF_TRY(clfi_alloc(encoding->length, sizeof *map->row_labels, "labels", &map->row_labels));
    CLF_TRY(clfi_alloc(encoding->length, sizeof *map->column_labels, "labels", &map->column_labels));
    for (size_t i = 0; i < encoding->length; i++) {
        const char *token = clf_tokenizer_token(model->tokenizer, encoding->ids[i]);
        const char *text = token ? token : "?";
        CLF_TRY(add_label(map->row_labels, &map->rows, text, strlen(text)));
        CLF_TRY(add_label(map->column_labels, &map->columns, text, strlen(text)));
    }
    return CLF_OK;
}

/* Computes and reads the weights, once more if the device is lost. */
static clf_status read_text_weights(clf_session *session, const clf_tokens *tokens, int64_t layer, cli_attention_map *map)
{
    clf_tensor *weights = NULL;
    clf_status st;
    do {
        st = clfi_session_attention_once(session, tokens, layer, &weights);
        if (st == CLF_OK)
            st = download(weights, map);
        clf_tensor_destroy(weights);
        weights = NULL;
    } while (clfi_session_recover(session, &st));
    return st;
}

clf_status cli_attention_of_text(clf_session *session, const char *text, size_t max_tokens, int64_t layer, cli_attention_map *out)
{
    clf_encoding encoding = CLF_ENCODING_INIT;
    cli_attention_map map = {0};
    const clf_model *model = session->model;
    clf_status st;
    CLF_GOTO(encode(model, text, max_tokens, &encoding));
    CLF_GOTO(label_tokens(model, &encoding, &map));
    const clf_tokens tokens = {encoding.ids, encoding.type_ids, encoding.length};
    CLF_GOTO(read_text_weights(session, &tokens, layer, &map));
    map.what = "attention weights";
    map.layer = layer;
    map.layers = model->info.layers;
    *out = map;
    map = (cli_attention_map){0};
done:
    cli_attention_free(&map);
    clfi_encoding_free(&encoding);
    return st;
}

/* Labels: each letter of the word, then its end. */
static clf_status label_letters(const char *word, char ***labels, size_t *count)
{
    CLF_TRY(clfi_alloc(strlen(word) + 1, sizeof **labels, "labels", labels));
    for (size_t i = 0; word[i]; i++)
        CLF_TRY(add_label(*labels, count, word + i, 1));
    return add_label(*labels, count, "</s>", 4);
}

/* Labels: the phonemes, with the start before them or the end after them. */
static clf_status label_phonemes(const char *phonemes, bool with_start, char ***labels, size_t *count)
{
    CLF_TRY(clfi_alloc(strlen(phonemes) + 2, sizeof **labels, "labels", labels));
    if (with_start)
        CLF_TRY(add_label(*labels, count, "<s>", 3));
    for (const char *at = phonemes + strspn(phonemes, " "); *at; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        CLF_TRY(add_label(*labels, count, at, size));
        at += size;
    }
    return with_start ? CLF_OK : add_label(*labels, count, "</s>", 4);
}

static clf_status label_word(const char *word, const char *phonemes, clf_pronounce_attention kind, cli_attention_map *map)
{
    if (kind == CLF_PRONOUNCE_ATTENTION_ENCODER)
        CLF_TRY(label_letters(word, &map->row_labels, &map->rows));
    else
        CLF_TRY(label_phonemes(phonemes, kind == CLF_PRONOUNCE_ATTENTION_DECODER, &map->row_labels, &map->rows));
    if (kind == CLF_PRONOUNCE_ATTENTION_DECODER)
        return label_phonemes(phonemes, true, &map->column_labels, &map->columns);
    return label_letters(word, &map->column_labels, &map->columns);
}

/* The same for a word. */
static clf_status read_word_weights(clf_pronouncer *pronouncer, const clf_text *word, const char *phonemes, clf_pronounce_attention kind,
                                    int64_t layer, cli_attention_map *map)
{
    clf_tensor *weights = NULL;
    clf_status st;
    do {
        st = clfi_pronouncer_attention_once(pronouncer, word, phonemes, kind, layer, &weights);
        if (st == CLF_OK)
            st = download(weights, map);
        clf_tensor_destroy(weights);
        weights = NULL;
    } while (clfi_context_recover(pronouncer->context, &st));
    return st;
}

clf_status cli_attention_of_word(clf_pronouncer *pronouncer, const char *word, int beam, clf_pronounce_attention kind, int64_t layer,
                                 cli_attention_map *out)
{
    static const char *const whats[] = {"cross-attention weights", "decoder's attention weights", "encoder's attention weights"};
    const clf_network_config *config = &pronouncer->model->network->config;
    const clf_text text = {word, strlen(word)};
    clf_pronounce_params params = CLF_PRONOUNCE_PARAMS_INIT;
    clf_pronunciations *list = NULL;
    cli_attention_map map = {0};
    clf_status st;
    params.beam = beam;
    CLF_GOTO(clf_pronounce(pronouncer, &text, 1, &params, &list));
    const clf_pronunciation *best = clf_pronunciations_get(list, 0, 0);
    const char *phonemes = best ? best->phonemes : "";
    CLF_GOTO(label_word(word, phonemes, kind, &map));
    CLF_GOTO(read_word_weights(pronouncer, &text, phonemes, kind, layer, &map));
    map.what = whats[kind];
    map.layer = layer;
    map.layers = kind == CLF_PRONOUNCE_ATTENTION_ENCODER ? config->encoder.layers : config->decoder.layers;
    *out = map;
    map = (cli_attention_map){0};
done:
    cli_attention_free(&map);
    clf_pronunciations_destroy(list);
    return st;
}

void cli_attention_free(cli_attention_map *map)
{
    for (size_t i = 0; i < map->rows; i++)
        free(map->row_labels[i]);
    for (size_t i = 0; i < map->columns; i++)
        free(map->column_labels[i]);
    for (size_t i = 0; map->names && i < map->heads; i++)
        free(map->names[i]);
    free(map->names);
    free(map->row_labels);
    free(map->column_labels);
    free(map->values);
    *map = (cli_attention_map){0};
}

/* The last part of a path. */
static const char *last_part(const char *path, size_t *length)
{
    size_t end = strlen(path), start;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/';)
        start--;
    *length = end - start;
    return path + start;
}

/* "all-MiniLM-L6-v2: attention weights, layer 2 (of 0 to 5)": layers count from 0, as --layer does. */
static clf_status compose_title(const cli_attention_map *map, const char *source, clf_str *out)
{
    char *full = realpath(source, NULL); /* gives "." a name; NULL for the built-in model, which is no path */
    size_t length;
    const char *name = last_part(full ? full : source, &length);
    clf_status st = clfi_str_appendf(out, "%.*s: %s", (int)length, name, map->what);
    free(full);
    if (st == CLF_OK && map->layers > 0)
        st = clfi_str_appendf(out, ", layer %lld (of 0 to %lld)", (long long)map->layer, (long long)map->layers - 1);
    return st;
}

clf_status cli_attention_stage(const cli_attention_map *map, const cli_attention_picture *picture, const char *path, clf_atomic_file *out)
{
    const size_t shown = picture->heads ? picture->count : map->heads, matrix = map->rows * map->columns;
    float *values = NULL;
    const char **names = NULL;
    char(*numbers)[32] = NULL;
    clf_str title = CLF_STR_INIT, subtitle = CLF_STR_INIT;
    clf_status st;
    CLF_GOTO(picture->title ? clfi_str_append_text(&title, picture->title) : compose_title(map, picture->source, &title));
    if (picture->text)
        CLF_GOTO(clfi_str_appendf(&subtitle, "\xe2\x80\x9c%s\xe2\x80\x9d", picture->text));
    CLF_GOTO(clfi_alloc(shown * matrix, sizeof *values, "heat maps", &values));
    CLF_GOTO(clfi_alloc(shown, sizeof *names, "labels", &names));
    CLF_GOTO(clfi_alloc(shown, sizeof *numbers, "labels", &numbers));
    for (size_t i = 0; i < shown; i++) {
        const size_t head = picture->heads ? (size_t)picture->heads[i] : i;
        memcpy(values + i * matrix, map->values + head * matrix, matrix * sizeof *values);
        snprintf(numbers[i], sizeof *numbers, "head %zu", head);
        names[i] = map->names ? map->names[head] : numbers[i];
    }
    const cli_heatmap drawn = {.title = title.length ? title.data : NULL,
                               .subtitle = picture->text ? subtitle.data : NULL,
                               .scale = picture->scale,
                               .row_axis = "queries",
                               .column_axis = "keys",
                               .count = shown,
                               .names = names,
                               .rows = map->rows,
                               .columns = map->columns,
                               .row_labels = (const char *const *)map->row_labels,
                               .column_labels = (const char *const *)map->column_labels,
                               .values = values};
    st = cli_heatmap_stage(&drawn, picture->format, path, out);
done:
    clfi_str_free(&title);
    clfi_str_free(&subtitle);
    free(values);
    free(names);
    free(numbers);
    return st;
}

clf_status cli_attention_draw(const cli_attention_map *map, const cli_attention_picture *picture, const char *path)
{
    clf_atomic_file file;
    CLF_TRY(cli_attention_stage(map, picture, path, &file));
    return clfi_atomic_commit(&file);
}
