/* SPDX-License-Identifier: MIT */
/* Reads the strings of tests/data/tokenizer/families/texts.jsonl for tests of tokenizers. Some are not UTF-8. */
#ifndef CLF_TEST_DIFFICULT_TEXTS_H
#define CLF_TEST_DIFFICULT_TEXTS_H

#include "base/str.h"

enum { DIFFICULT_TEXTS = 2000 };

void read_difficult_texts(clf_str texts[DIFFICULT_TEXTS]);
void free_difficult_texts(clf_str texts[DIFFICULT_TEXTS]);

#endif
