/* SPDX-License-Identifier: MIT */
/* Tokenizers: text to token ids and back, identical to Hugging Face's `tokenizers` on the same files. They need no device. Several threads
 * may use one tokenizer, each with its own encoding and token decoder. */
#ifndef CLFORMER_TOKENIZER_H
#define CLFORMER_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "clformer/status.h"
#include "clformer/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clf_tokenizer clf_tokenizer;

/* Opens the tokenizer of a GGUF file or of a model directory. A tokenizer.json may combine the supported parts in any way. A directory
 * without one needs RoBERTa's vocab.json with merges.txt, sentencepiece.bpe.model of XLM-RoBERTa or CamemBERT, Marian's source.spm with
 * vocab.json, or BERT's vocab.txt, which may come with tokenizer_config.json. The tokenizer's class is tokenizer_class of
 * tokenizer_config.json, else tokenizer_class or model_type of config.json. It decides which family's sentencepiece.bpe.model the file is;
 * ids are those of the tokenizer.json that transformers makes of it. Truncation and padding that a file asks for are not applied. The class
 * also decides which keys of tokenizer_config.json overrule tokenizer.json, as in transformers: add_bos_token and add_eos_token (Llama,
 * Gemma and similar), do_lower_case, strip_accents and tokenize_chinese_chars (BERT and similar), add_prefix_space. The tokens' roles come
 * from tokenizer_config.json. If that has no added_tokens_decoder, they also come from special_tokens_map.json and added_tokens.json beside
 * it, as in transformers. NOT_FOUND: none of these files. UNSUPPORTED: an unsupported part, or vocab.json or sentencepiece.bpe.model of
 * another class; the message names it and the supported ones. FORMAT: a broken file, or the files put a token around texts that they do not
 * define. */
CLF_API CLF_NODISCARD clf_status clf_tokenizer_open(const char *path, clf_tokenizer **out);

/* Opens the tokenizer of the texts that an encoder-decoder writes. It is Marian's target.spm with target_vocab.json if separate_vocabs is
 * true in tokenizer_config.json, else that of clf_tokenizer_open. Statuses as there; NOT_FOUND: one of the two files. */
CLF_API CLF_NODISCARD clf_status clf_tokenizer_open_target(const char *path, clf_tokenizer **out);

/* As clf_tokenizer_open, from the text of a tokenizer.json. `name` is used in messages. */
CLF_API CLF_NODISCARD clf_status clf_tokenizer_from_json(const clf_text *json, const char *name, clf_tokenizer **out);

CLF_API void clf_tokenizer_destroy(clf_tokenizer *tokenizer); /* NULL is a no-op */

/* Purpose of a token of a vocabulary (GGUF's tokenizer.ggml.token_type). */
typedef enum clf_token_type {
    CLF_TOKEN_NORMAL = 1,
    CLF_TOKEN_UNKNOWN = 2,
    CLF_TOKEN_CONTROL = 3,      /* recognised in the raw text; special */
    CLF_TOKEN_USER_DEFINED = 4, /* recognised in the raw text */
    CLF_TOKEN_UNUSED = 5,
    CLF_TOKEN_BYTE = 6
} clf_token_type;

/* A tokenizer given by its vocabulary, as GGUF files keep it. Everything is copied. Bytes for which gpt2 has no token are dropped. Their
 * neighbours do not merge with each other. */
typedef struct clf_vocabulary_spec {
    size_t size;            /* sizeof(clf_vocabulary_spec) */
    const char *model;      /* "gpt2": byte-level BPE; "llama": SentencePiece BPE, which merges by score and falls back to bytes */
    const char *pre;        /* gpt2: how text is split into words, by llama.cpp's names: "default", "gpt-2", "llama-bpe", "qwen2", "smollm"
                               and others, which the message of an unknown name lists; NULL = default */
    const clf_text *tokens; /* [token_count]: UTF-8; gpt2: in byte-level characters */
    size_t token_count;
    const float *scores;    /* [token_count]; llama */
    const int32_t *types;   /* [token_count], clf_token_type; NULL = all normal */
    const clf_text *merges; /* [merge_count]: "a b", best first; of equal ones the first counts; gpt2 */
    size_t merge_count;
    int32_t bos, eos, unknown, separator, padding; /* ids; -1 = none */
    int add_bos, add_eos;                          /* nonzero: encoding puts bos before and eos after a text */
    int add_space_prefix;                          /* nonzero, llama: encoding puts a space before a text */
    int32_t classification, mask;                  /* ids; -1 = none */
} clf_vocabulary_spec;

#define CLF_VOCABULARY_SPEC_INIT                                                                                                         \
    {                                                                                                                                    \
        .size = sizeof(clf_vocabulary_spec), .bos = -1, .eos = -1, .unknown = -1, .separator = -1, .padding = -1, .add_space_prefix = 1, \
        .classification = -1, .mask = -1                                                                                                 \
    }
CLF_API CLF_NODISCARD clf_status clf_vocabulary_spec_default(clf_vocabulary_spec *out, size_t size); /* clformer.h: options */

/* Makes a tokenizer of a vocabulary. `name` is used in messages. UNSUPPORTED: another model or pre; the message lists the known ones.
 * FORMAT: an id, token or merge that does not fit the rest. */
CLF_API CLF_NODISCARD clf_status clf_tokenizer_from_vocabulary(const clf_vocabulary_spec *spec, const char *name, clf_tokenizer **out);

/* Unit of the offsets of tokens: characters (code points, as in Python's `tokenizers`; an ill-formed part of the text is one) or bytes. */
typedef enum clf_offset_unit { CLF_OFFSETS_NONE, CLF_OFFSETS_CHARACTERS, CLF_OFFSETS_BYTES } clf_offset_unit;

typedef struct clf_encode_params {
    size_t size;             /* sizeof(clf_encode_params) */
    int add_special_tokens;  /* nonzero (the default): the post-processor's special tokens are put around the text */
    int ignore_special;      /* nonzero: special tokens written in the text are plain text; 0: they become those tokens, unless
                              * split_special_tokens is true in tokenizer_config.json */
    size_t max_tokens;       /* truncates the text to this many tokens, special ones included; 0 = no limit */
    clf_offset_unit offsets; /* any value but CLF_OFFSETS_NONE makes encoding slower */
} clf_encode_params;

#define CLF_ENCODE_PARAMS_INIT                                     \
    {                                                              \
        .size = sizeof(clf_encode_params), .add_special_tokens = 1 \
    }
CLF_API CLF_NODISCARD clf_status clf_encode_params_default(clf_encode_params *out, size_t size); /* clformer.h: options */

/* Range of a token's text: [start, end). Tokens that share a character (parts of an emoji, say) have the same range. */
typedef struct clf_offsets {
    uint32_t start, end;
} clf_offsets;

/* Result of an encoding, made and destroyed by the library. It may be used again and then reuses its memory. Its arrays are valid until the
 * next use. */
typedef struct clf_encoding {
    int32_t *ids;          /* [length] */
    int32_t *type_ids;     /* [length]: segment, as the post-processor's template sets it */
    uint8_t *special_mask; /* [length]: 1 for tokens that the post-processor added */
    clf_offsets *offsets;  /* [length]: within the token's own text of a pair; 0, 0 for added tokens and with CLF_OFFSETS_NONE */
    size_t length;
    int truncated; /* nonzero: max_tokens truncated the text */
    size_t capacity;
    struct clf_encode_workspace *workspace;
} clf_encoding;

CLF_API CLF_NODISCARD clf_status clf_encoding_create(clf_encoding **out);
CLF_API void clf_encoding_destroy(clf_encoding *encoding); /* NULL is a no-op */

/* Encodes a text, or with `pair` (NULL: none) the two together. Each ill-formed part of UTF-8 (maximal subpart, Unicode 3.9) counts as
 * U+FFFD. If a single text has too many tokens for max_tokens, its end is removed. If a pair has, tokens of the longer text are removed
 * first, and of both only if each has more than half of the tokens. Beginnings are removed instead of ends if the model's files have
 * truncation_side "left". params NULL: the defaults. INVALID_ARGUMENT: a NULL, an unknown unit of offsets, a max_tokens that leaves no room
 * for the special tokens. UNSUPPORTED: a text of 4 GiB or more, a regular expression of the file that takes too long on the text, or a
 * special token in the text that tokenizer_config.json names and the vocabulary lacks. */
CLF_API CLF_NODISCARD clf_status clf_tokenizer_encode(const clf_tokenizer *tokenizer, const clf_text *text, const clf_text *pair,
                                                      const clf_encode_params *params, clf_encoding *out);

/* Returns the highest id + 1, added tokens included: every id in an encoding is below it. */
CLF_API size_t clf_tokenizer_vocabulary_size(const clf_tokenizer *tokenizer);

/* Returns the text of an id as the vocabulary has it, NULL if there is none. Borrowed. */
CLF_API const char *clf_tokenizer_token(const clf_tokenizer *tokenizer, int32_t id);

/* Returns the id of the token with this text, -1 if there is none. */
CLF_API int32_t clf_tokenizer_id(const clf_tokenizer *tokenizer, const char *token);

/* Returns nonzero for a special token, which decoding may leave out. */
CLF_API int clf_tokenizer_is_special(const clf_tokenizer *tokenizer, int32_t id);

/* Returns the number of special tokens that are added around a text (pair 0) or a pair of texts. */
CLF_API size_t clf_tokenizer_added_count(const clf_tokenizer *tokenizer, int pair);

typedef enum clf_token_role {
    CLF_TOKEN_BOS,
    CLF_TOKEN_EOS,
    CLF_TOKEN_UNK,
    CLF_TOKEN_SEP,
    CLF_TOKEN_PAD,
    CLF_TOKEN_CLS,
    CLF_TOKEN_MASK,
    CLF_TOKEN_ROLE_COUNT
} clf_token_role;

/* Returns the id of the token in this role, -1 if the files name none. */
CLF_API int32_t clf_tokenizer_role(const clf_tokenizer *tokenizer, clf_token_role role);

/* Converts tokens to text, one by one as they are generated, or all at once. */
typedef struct clf_token_decoder clf_token_decoder;

/* skip_special nonzero: special tokens are left out. The tokenizer must outlive the decoder. */
CLF_API CLF_NODISCARD clf_status clf_token_decoder_create(const clf_tokenizer *tokenizer, int skip_special, clf_token_decoder **out);
CLF_API void clf_token_decoder_destroy(clf_token_decoder *decoder); /* NULL is a no-op */

/* Adds the next token. *text receives the characters that are now certain and were not returned before, always whole ones. It is empty
 * while bytes of a character or of a run of byte tokens are missing. All pieces and the text of clf_token_decoder_finish together are the
 * text that clf_token_decoder_decode returns for all ids. An id without a token adds nothing. *text is valid until the next call and ends
 * with NUL. */
CLF_API CLF_NODISCARD clf_status clf_token_decoder_push(clf_token_decoder *decoder, int32_t id, clf_text *text);

/* Returns the rest of the text; the decoder then starts a new text. An unfinished character becomes U+FFFD. */
CLF_API CLF_NODISCARD clf_status clf_token_decoder_finish(clf_token_decoder *decoder, clf_text *text);

/* Decodes a whole text at once; an unfinished earlier text is dropped. */
CLF_API CLF_NODISCARD clf_status clf_token_decoder_decode(clf_token_decoder *decoder, const int32_t *ids, size_t count, clf_text *text);

#ifdef __cplusplus
}
#endif
#endif
