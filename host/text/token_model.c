/* SPDX-License-Identifier: MIT */
/* Table of the models that a tokenizer.json may have: WordPiece, BPE and Unigram. */
#include "text/token_model.h"

static const clf_part_kind *const rows[] = {&clfi_wordpiece_kind.part, &clfi_bpe_kind.part, &clfi_unigram_kind.part};
const clf_part_table clfi_token_models = {rows, COUNT(rows), NULL};
