/* SPDX-License-Identifier: MIT */
/* The strings of tests/data/tokenizer/families/texts.jsonl, not all of them UTF-8. */
#ifndef CLF_TEST_DIFFICULT_TEXTS_H
#define CLF_TEST_DIFFICULT_TEXTS_H

#include "base/str.h"

enum { DIFFICULT_TEXTS = 2000 };

void read_difficult_texts(clf_str texts[DIFFICULT_TEXTS]);
void free_difficult_texts(clf_str texts[DIFFICULT_TEXTS]);

#endif
