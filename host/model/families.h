/* SPDX-License-Identifier: MIT */
/* The only list of families: X(name) for each clfi_family_<name>, in the order in which messages name them. */
#ifndef CLFI_MODEL_FAMILIES_H
#define CLFI_MODEL_FAMILIES_H

/* clang-format off */
#define CLFI_FAMILIES(X) \
    X(bert) \
    X(distilbert) \
    X(roberta) \
    X(xlm_roberta) \
    X(camembert) \
    X(mpnet) \
    X(nomic_bert) \
    X(modernbert) \
    X(encoder_decoder) \
    X(bart) \
    X(marian) \
    X(t5) \
    X(llama) \
    X(mistral) \
    X(qwen2) \
    X(qwen3) \
    X(gemma) \
    X(gemma2) \
    X(gemma3) \
    X(phi3) \
    X(gpt2)
/* clang-format on */

#endif
