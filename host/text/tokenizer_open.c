/* SPDX-License-Identifier: MIT */
/* Opens tokenizers: tokenizer.json, the files of older tokenizers, Marian's files, or a GGUF file, with the keys of
 * tokenizer_config.json. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/checkpoint_gguf.h"
#include "io/json.h"
#include "io/model_directory.h"
#include "text/absent_tokens.h"
#include "text/tokenizer_class.h"
#include "text/tokenizer_clean_up.h"
#include "text/tokenizer_files.h"
#include "text/tokenizer_gguf.h"
#include "text/tokenizer_marian.h"
#include "text/tokenizer_older.h"
#include "text/tokenizer_parts.h"
#include "text/tokenizer_pipeline.h"
#include "text/tokenizer_slow.h"
#include "text/tokenizer_software.h"
#include "text/tokenizer_variables.h"

/* "truncation_side" overrides tokenizer.json's own direction, as in transformers. */
static clf_status read_side(const json_t *config, const char *name, clf_tokenizer *tokenizer)
{
    const char *side;
    CLF_TRY(clfi_json_opt_string(config, name, "truncation_side", tokenizer->cuts_left ? "left" : "right", &side));
    tokenizer->cuts_left = strcmp(side, "left") == 0;
    if (!tokenizer->cuts_left && strcmp(side, "right") != 0)
        CLF_FAIL(CLF_FORMAT, "%s: truncation_side: expected \"left\" or \"right\", found \"%s\"", name, side);
    return CLF_OK;
}

/* Refuses keys that change how texts are split and are not supported: Mistral's other expression, and SentencePiece's sampling. */
static clf_status refuse_others(const json_t *config, const char *name)
{
    static const char *const keys[] = {"fix_mistral_regex", "sp_model_kwargs"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        const json_t *value = json_object_get(config, keys[i]);
        char found[CLFI_JSON_FOUND_BYTES];
        if (value && !json_is_null(value) && !json_is_false(value) && !(json_is_object(value) && json_object_size(value) == 0))
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: it changes how texts are split and is not supported: expected null, found %s", name, keys[i],
                     clfi_json_found(value, found));
    }
    return CLF_OK;
}

/* Reads keys of tokenizer_config.json that do not describe parts. A token outside the vocabulary gets no role. */
static clf_status read_config(const json_t *config, const char *name, clf_tokenizer *tokenizer)
{
    for (size_t i = 0; i < CLF_TOKEN_ROLE_COUNT; i++)
        tokenizer->roles[i] = clf_tokenizer_id(tokenizer, clfi_named_content(json_object_get(config, clfi_token_role_keys[i])));
    const json_t *chat_tokens;
    CLF_TRY(refuse_others(config, name));
    CLF_TRY(clfi_json_opt_bool(config, name, "split_special_tokens", false, &tokenizer->splits_special));
    CLF_TRY(clfi_json_opt_array(config, name, "chat_control_tokens", &chat_tokens));
    tokenizer->chat_tokens = json_incref((json_t *)chat_tokens);
    CLF_TRY(clfi_tokenizer_clean_up(config, name, tokenizer));
    return read_side(config, name, tokenizer);
}

/* Opens the tokenizer of a directory without tokenizer.json. config NULL: no tokenizer_config.json. */
static clf_status open_older(const char *directory, const char *config_path, const json_t *config, clf_tokenizer **out)
{
    clf_status st;
    char *path = NULL, *spm = NULL, *vocab = NULL;
    clf_str text = CLF_STR_INIT;
    CLF_GOTO(clfi_file_find(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_SOURCE_SPM], &spm));
    if (spm) {
        CLF_GOTO(clfi_path_join(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_VOCAB_JSON], &vocab));
        CLF_GOTO(clfi_tokenizer_open_marian(spm, vocab, out));
        goto done;
    }
    CLF_GOTO(clfi_file_find(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_VOCAB_TXT], &path));
    if (!path)
        CLF_GOTO(clfi_fail(CLF_NOT_FOUND,
                           "%s: no tokenizer.json and no vocab.txt, vocab.json with merges.txt, sentencepiece.bpe.model or source.spm",
                           directory));
    CLF_GOTO(clfi_text_read(path, CLFI_MODEL_FILE_BYTES, &text));
    st = clfi_tokenizer_from_vocabulary_parts(clfi_str_text(&text), text.length, path, config, config_path, out);
done:
    clfi_str_free(&text);
    free(path);
    free(spm);
    free(vocab);
    return st;
}

clf_status clfi_tokenizer_lowers(const char *directory, bool *out)
{
    const char *name;
    json_t *settings;
    *out = false;
    CLF_TRY(clfi_transformer_settings_open(directory, &settings, &name));
    const clf_status st = settings ? clfi_json_opt_bool(settings, name, "do_lower_case", false, out) : CLF_OK;
    json_decref(settings);
    return st;
}

/* Puts Lowercase before the other normalizers of tokenizer.json, in their list or in place of none. */
static clf_status put_lowercase(const char *path, json_t *root)
{
    json_t *given = json_object_get(root, "normalizer");
    json_t *chain = json_is_object(given) ? json_pack("{s:s,s:[{s:s},O]}", "type", "Sequence", "normalizers", "type", "Lowercase", given)
                                          : json_pack("{s:s}", "type", "Lowercase");
    if (!chain || json_object_set_new(root, "normalizer", chain) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: not enough memory", path);
    return CLF_OK;
}

/* Checks a directory with vocab.txt, whose BERT tokenizer lower-cases by itself unless do_lower_case is false. */
static clf_status check_lowercase(const json_t *config, const char *name)
{
    bool lowers;
    CLF_TRY(clfi_json_opt_bool(config, name, "do_lower_case", true, &lowers));
    if (!lowers)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: do_lower_case is false and sentence_bert_config.json's is true: expected a tokenizer.json", name);
    return CLF_OK;
}

/* A directory's files while its tokenizer is made. */
typedef struct tokenizer_files {
    const char *directory;
    json_t *config; /* tokenizer_config.json; NULL: none */
    char *config_path;
    bool has_config; /* there is a tokenizer_config.json, not only older files whose keys were put into `config` */
    bool is_listed;  /* the configuration itself lists the added tokens */
    json_t *root;    /* tokenizer.json, or what was made in place of one; NULL: neither */
    char *path;
    const clf_tokenizer_class *class; /* keys of this class override tokenizer.json; NULL: no class does */
    char *pipeline;                   /* transformers 5's class whose parts replace tokenizer.json's; NULL: the file's own parts */
} tokenizer_files;

static clf_status find_class(tokenizer_files *f)
{
    char name[CLFI_TOKENIZER_CLASS_BYTES];
    CLF_TRY(clfi_tokenizer_class_name(f->directory, f->config, name));
    f->class = clfi_tokenizer_class_find(name);
    return clfi_tokenizer_class_edit(f->class, f->config, f->config_path, f->root);
}

static clf_status need_config(tokenizer_files *f)
{
    static const char name[] = "tokenizer_config.json";
    if (f->config)
        return CLF_OK;
    f->config = json_object();
    if (!f->config)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: not enough memory", name);
    return clfi_strdup(name, &f->config_path);
}

/* Changes tokenizer.json as the software that made the files would. */
static clf_status edit_root(tokenizer_files *f)
{
    bool is_five;
    CLF_TRY(clfi_tokenizer_is_of_five(f->directory, f->config, &is_five));
    if (is_five)
        CLF_TRY(clfi_tokenizer_pipeline_class(f->directory, f->has_config ? f->config : NULL, f->root, &f->pipeline));
    if (!f->pipeline) {
        clfi_unigram_read_as_tokenizers(f->root);
        return is_five || !f->config ? CLF_OK : find_class(f);
    }
    CLF_TRY(need_config(f));
    return clfi_tokenizer_pipeline_put(f->pipeline, f->config, f->config_path, f->is_listed, f->root, f->path);
}

static clf_status read_files(const char *directory, tokenizer_files *f)
{
    CLF_TRY(clfi_file_need(directory));
    f->directory = directory;
    CLF_TRY(clfi_json_read_in(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_CONFIG], &f->config_path, &f->config));
    f->has_config = f->config != NULL;
    f->is_listed = json_is_object(json_object_get(f->config, "added_tokens_decoder"));
    CLF_TRY(clfi_tokenizer_read_older(directory, &f->config, &f->config_path));
    CLF_TRY(clfi_json_read_in(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_JSON], &f->path, &f->root));
    return f->root ? edit_root(f) : clfi_tokenizer_make_slow(directory, f->config, &f->root, &f->path);
}

static clf_status make(tokenizer_files *f, clf_tokenizer **out)
{
    bool lowers;
    CLF_TRY(clfi_tokenizer_lowers(f->directory, &lowers));
    if (f->root && lowers)
        CLF_TRY(put_lowercase(f->path, f->root));
    if (f->root)
        return clfi_tokenizer_from_parts(f->root, f->path, f->config, f->config_path, out);
    if (lowers && f->config)
        CLF_TRY(check_lowercase(f->config, f->config_path));
    return open_older(f->directory, f->config_path, f->config, out);
}

/* Reads the keys of the configuration that need the finished tokenizer. */
static clf_status finish(tokenizer_files *f, clf_tokenizer *tokenizer)
{
    char class_name[CLFI_TOKENIZER_CLASS_BYTES];
    if (f->config)
        CLF_TRY(read_config(f->config, f->config_path, tokenizer));
    CLF_TRY(clfi_absent_tokens_read(f->config, f->config_path, tokenizer));
    CLF_TRY(clfi_tokenizer_class_name(f->directory, f->config, class_name));
    CLF_TRY(clfi_tokenizer_read_variables(f->config, class_name, &tokenizer->variables));
    tokenizer->pipeline = f->pipeline;
    f->pipeline = NULL;
    return f->class ? clfi_tokenizer_class_put_ends(f->class, f->config, f->config_path, tokenizer) : CLF_OK;
}

static void close_files(tokenizer_files *f)
{
    json_decref(f->config);
    json_decref(f->root);
    free(f->path);
    free(f->config_path);
    free(f->pipeline);
}

clf_status clfi_tokenizer_read_root(const char *directory, json_t **out)
{
    tokenizer_files f = {.config = NULL};
    const clf_status st = read_files(directory, &f);
    *out = st == CLF_OK ? json_incref(f.root) : NULL;
    close_files(&f);
    return st;
}

static clf_status open_files(const char *directory, clf_tokenizer **out)
{
    clf_status st;
    tokenizer_files f = {.config = NULL};
    clf_tokenizer *tokenizer = NULL;
    CLF_GOTO(read_files(directory, &f));
    CLF_GOTO(make(&f, &tokenizer));
    CLF_GOTO(finish(&f, tokenizer));
    *out = tokenizer;
    tokenizer = NULL;
done:
    clf_tokenizer_destroy(tokenizer);
    close_files(&f);
    return st;
}

static clf_status open_any(const char *directory, clf_tokenizer **out)
{
    char *place;
    if (clfi_is_gguf(directory))
        return clfi_tokenizer_open_gguf(directory, out);
    CLF_TRY(clfi_tokenizer_place(directory, &place));
    const clf_status st = open_files(place, out);
    free(place);
    return st;
}

clf_status clf_tokenizer_open(const char *directory, clf_tokenizer **out)
{
    if (!directory || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: expected a directory and a place for the tokenizer, found NULL");
    return open_any(directory, out);
}

static clf_status open_target(const char *directory, clf_tokenizer **out)
{
    char *spm = NULL, *vocab = NULL, *path = NULL;
    json_t *config = NULL;
    clf_tokenizer *tokenizer = NULL;
    bool is_separate = false; /* transformers' default */
    clf_status st;
    CLF_GOTO(clfi_json_read_in(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_CONFIG], &path, &config));
    if (config)
        CLF_GOTO(clfi_json_opt_bool(config, path, "separate_vocabs", false, &is_separate));
    if (!is_separate) {
        CLF_GOTO(open_files(directory, &tokenizer));
    } else {
        CLF_GOTO(clfi_path_join(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_TARGET_SPM], &spm));
        CLF_GOTO(clfi_path_join(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_TARGET_VOCAB], &vocab));
        CLF_GOTO(clfi_tokenizer_open_marian(spm, vocab, &tokenizer));
        CLF_GOTO(clfi_tokenizer_clean_up(config, path, tokenizer));
    }
    *out = tokenizer;
    tokenizer = NULL;
done:
    clf_tokenizer_destroy(tokenizer);
    json_decref(config);
    free(path);
    free(spm);
    free(vocab);
    return st;
}

clf_status clf_tokenizer_open_target(const char *directory, clf_tokenizer **out)
{
    char *place;
    if (!directory || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: expected a directory and a place for the tokenizer, found NULL");
    if (clfi_is_gguf(directory))
        return open_any(directory, out);
    CLF_TRY(clfi_tokenizer_place(directory, &place));
    const clf_status st = open_target(place, out);
    free(place);
    return st;
}

clf_status clf_tokenizer_from_json(const clf_text *json, const char *name, clf_tokenizer **out)
{
    if (!json || (!json->data && json->size) || !name || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: expected a text, a name and a place for the tokenizer, found NULL");
    return clfi_tokenizer_from_json(json->data ? json->data : "", json->size, name, out);
}
