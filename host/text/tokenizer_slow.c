/* SPDX-License-Identifier: MIT */
/* Finds which of transformers' older tokenizers a directory has. */
#include "text/tokenizer_slow.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/json.h"
#include "text/tokenizer_class.h"
#include "text/tokenizer_files.h"

static const struct {
    const char *class, *model_type;
    clf_tokenizer_file file;
    clf_status (*make)(const char *directory, const json_t *config, json_t *root);
} rows[] = {{"RobertaTokenizer", "roberta", CLF_TOKENIZER_FILE_VOCAB_JSON, clfi_tokenizer_make_roberta},
            {"BartTokenizer", "bart", CLF_TOKENIZER_FILE_VOCAB_JSON, clfi_tokenizer_make_roberta},
            {"XLMRobertaTokenizer", "xlm-roberta", CLF_TOKENIZER_FILE_SENTENCEPIECE, clfi_tokenizer_make_xlm_roberta},
            {"CamembertTokenizer", "camembert", CLF_TOKENIZER_FILE_SENTENCEPIECE, clfi_tokenizer_make_camembert}};

/* Whether the directory has it. */
static clf_status has_file(const char *directory, clf_tokenizer_file file, bool *out)
{
    char *path;
    CLF_TRY(clfi_file_find(directory, clfi_tokenizer_files[file], &path));
    *out = path != NULL;
    free(path);
    return CLF_OK;
}

clf_status clfi_tokenizer_make_slow(const char *directory, const json_t *config, json_t **out, char **path)
{
    bool has_pieces, has_pairs, has_merges;
    char class[CLFI_TOKENIZER_CLASS_BYTES];
    size_t i = 0;
    *out = NULL;
    CLF_TRY(has_file(directory, CLF_TOKENIZER_FILE_SENTENCEPIECE, &has_pieces));
    CLF_TRY(has_file(directory, CLF_TOKENIZER_FILE_VOCAB_JSON, &has_pairs));
    CLF_TRY(has_file(directory, CLF_TOKENIZER_FILE_MERGES, &has_merges));
    if (!has_pieces && !(has_pairs && has_merges))
        return CLF_OK;
    CLF_TRY(clfi_tokenizer_class_name(directory, config, class));
    while (i < COUNT(rows) && strcmp(rows[i].class, class) != 0 && strcmp(rows[i].model_type, class) != 0)
        i++;
    if (i == COUNT(rows))
        CLF_FAIL(CLF_UNSUPPORTED,
                 "%s: tokenizer_class or model_type \"%s\" without tokenizer.json: expected RobertaTokenizer, BartTokenizer, "
                 "XLMRobertaTokenizer or CamembertTokenizer",
                 directory, class);
    const bool is_of_pieces = rows[i].file == CLF_TOKENIZER_FILE_SENTENCEPIECE;
    if (is_of_pieces ? !has_pieces : !(has_pairs && has_merges))
        CLF_FAIL(CLF_NOT_FOUND, "%s: no tokenizer.json, and no %s, which %s needs", directory,
                 is_of_pieces ? clfi_tokenizer_files[CLF_TOKENIZER_FILE_SENTENCEPIECE] : "vocab.json with merges.txt", rows[i].class);
    json_t *root = json_object();
    clf_status st = root ? clfi_path_join(directory, clfi_tokenizer_files[rows[i].file], path)
                         : clfi_fail(CLF_OUT_OF_MEMORY, "%s: tokenizer: not enough memory", directory);
    if (st == CLF_OK)
        st = rows[i].make(directory, config, root);
    if (st != CLF_OK) {
        json_decref(root);
        return st;
    }
    *out = root;
    return CLF_OK;
}
