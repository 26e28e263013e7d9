/* SPDX-License-Identifier: MIT */
/* Reads sentencepiece.bpe.model of models that were trained with fairseq; their ids differ from those in the file. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/sentencepiece.h"
#include "text/tokenizer_files.h"
#include "text/tokenizer_make.h"
#include "text/tokenizer_slow.h"

enum { UNKNOWN = 3, OWN_MOST = 5 };

/* The model's own tokens, which come before the file's pieces, and the number of first pieces that they replace. */
typedef struct fairseq_ids {
    const char *own[OWN_MOST]; /* NULL: no more */
    size_t dropped;
    json_int_t begin, end; /* <s>, </s> */
} fairseq_ids;

static const fairseq_ids xlm_roberta = {{"<s>", "<pad>", "</s>", "<unk>"}, 3, 0, 2};
static const fairseq_ids camembert = {{"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"}, 1, 5, 6};
static const double unused_score = -100; /* of "<unk>NOTUSED" */

static clf_status check_first(const clf_sentencepiece *spm, const char *name)
{
    static const char *const first[] = {"<unk>", "<s>", "</s>"};
    for (size_t i = 0; i < COUNT(first); i++)
        if (i >= spm->count || spm->pieces[i].size != strlen(first[i]) || memcmp(spm->pieces[i].text, first[i], strlen(first[i])) != 0)
            CLF_FAIL(CLF_FORMAT, "%s: piece %zu: expected %s, as fairseq's models begin", name, i, first[i]);
    return CLF_OK;
}

static clf_status list_tokens(const clf_sentencepiece *spm, const fairseq_ids *layout, json_t *list)
{
    for (size_t i = 0; i < OWN_MOST && layout->own[i]; i++)
        CLF_TRY(clfi_make_append(list, json_pack("[s, f]", layout->own[i], i > UNKNOWN ? unused_score : 0.0)));
    for (size_t i = layout->dropped; i < spm->count; i++)
        CLF_TRY(clfi_make_append(list, json_pack("[s%, f]", spm->pieces[i].text, spm->pieces[i].size, (double)spm->pieces[i].score)));
    return clfi_make_append(list, json_pack("[s, f]", "<mask>", 0.0));
}

static clf_status set_template(const fairseq_ids *layout, json_t *root)
{
    static const char begin[] = "<s>", end[] = "</s>";
    json_t *single = json_array(), *pair = json_array();
    json_t *tokens = json_pack("{s:{s:s, s:[I], s:[s]}, s:{s:s, s:[I], s:[s]}}", begin, "id", begin, "ids", layout->begin, "tokens", begin,
                               end, "id", end, "ids", layout->end, "tokens", end);
    CLF_TRY(clfi_make_set(
        root, "post_processor",
        json_pack("{s:s, s:o, s:o, s:o}", "type", "TemplateProcessing", "single", single, "pair", pair, "special_tokens", tokens)));
    static const char *const parts[] = {"<s>", "A", "</s>", "</s>", "B", "</s>"};
    for (size_t i = 0; i < COUNT(parts); i++) {
        const char *kind = parts[i][0] == '<' ? "SpecialToken" : "Sequence";
        CLF_TRY(clfi_make_append(pair, json_pack("{s:{s:s, s:i}}", kind, "id", parts[i], "type_id", 0)));
        if (i < 3)
            CLF_TRY(clfi_make_append(single, json_pack("{s:{s:s, s:i}}", kind, "id", parts[i], "type_id", 0)));
    }
    return CLF_OK;
}

static clf_status set_added(const fairseq_ids *layout, json_int_t mask, json_t *root)
{
    json_t *list = json_array();
    CLF_TRY(clfi_make_set(root, "added_tokens", list));
    for (size_t i = 0; i < OWN_MOST && layout->own[i]; i++)
        CLF_TRY(clfi_make_added(list, layout->own[i], (json_int_t)i, true, false));
    if (layout->begin > UNKNOWN) {
        CLF_TRY(clfi_make_added(list, "<s>", layout->begin, true, false));
        CLF_TRY(clfi_make_added(list, "</s>", layout->end, true, false));
    }
    return clfi_make_added(list, "<mask>", mask, true, true);
}

static clf_status make(const clf_sentencepiece *spm, const char *name, const fairseq_ids *layout, json_t *root)
{
    CLF_TRY(clfi_make_check_pieces(spm, name));
    CLF_TRY(check_first(spm, name));
    json_t *list = json_array();
    CLF_TRY(clfi_make_set(root, "model", json_pack("{s:s, s:i, s:o}", "type", "Unigram", "unk_id", UNKNOWN, "vocab", list)));
    CLF_TRY(list_tokens(spm, layout, list));
    CLF_TRY(clfi_make_piece_chains(spm, false, root));
    CLF_TRY(set_template(layout, root));
    return set_added(layout, (json_int_t)json_array_size(list) - 1, root);
}

static clf_status make_from_file(const char *directory, const fairseq_ids *layout, json_t *root)
{
    clf_status st;
    char *path = NULL;
    clf_str bytes = CLF_STR_INIT;
    clf_sentencepiece spm = {.pieces = NULL};
    CLF_GOTO(clfi_path_join(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_SENTENCEPIECE], &path));
    CLF_GOTO(clfi_file_read(path, CLFI_MODEL_FILE_BYTES, &bytes));
    CLF_GOTO(clfi_sentencepiece_parse(clfi_str_text(&bytes), bytes.length, path, &spm));
    st = make(&spm, path, layout, root);
done:
    clfi_sentencepiece_free(&spm);
    clfi_str_free(&bytes);
    free(path);
    return st;
}

clf_status clfi_tokenizer_make_xlm_roberta(const char *directory, const json_t *config, json_t *root)
{
    (void)config;
    return make_from_file(directory, &xlm_roberta, root);
}

clf_status clfi_tokenizer_make_camembert(const char *directory, const json_t *config, json_t *root)
{
    (void)config;
    return make_from_file(directory, &camembert, root);
}
