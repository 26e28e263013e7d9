/* SPDX-License-Identifier: MIT */
/* Normalizers that change characters one by one or into a Unicode form: NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Nmt. */
#include "base/utf8.h"
#include "text/normalizer.h"
#include "text/unicode.h"
#include "text/unicode_form.h"

static bool is_ascii(const clf_str *text)
{
    for (size_t i = 0; i < text->length; i++)
        if ((unsigned char)text->data[i] >= 0x80)
            return false;
    return true;
}

clf_status clfi_unicode_form_run(clf_unicode_form form, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work)
{
    if (is_ascii(&from->text))
        return clfi_aligned_append_slice(to, from, 0, from->text.length);
    CLF_TRY(clfi_unicode_form_of(form, from->text.data, from->text.length, work));
    clf_rewrite rewrite = {.from = from, .to = to, .end = from->text.length};
    for (size_t i = 0; i < work->codes.count; i++)
        CLF_TRY(clfi_rewrite_put(&rewrite, work->codes.codes[i].code, work->codes.codes[i].change));
    return CLF_OK;
}

#define FORM(row, type, compatible, composed)                                                                                     \
    static clf_status run_##row(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work) \
    {                                                                                                                             \
        (void)settings;                                                                                                           \
        return clfi_unicode_form_run((clf_unicode_form){compatible, composed}, from, to, work);                                   \
    }                                                                                                                             \
    const clf_normalizer_kind clfi_normalizer_##row = {{type, NULL, NULL}, run_##row, .is_local = true};

FORM(nfd, "NFD", false, false)
FORM(nfc, "NFC", false, true)
FORM(nfkd, "NFKD", true, false)
FORM(nfkc, "NFKC", true, true)

clf_status clfi_lowercase(const clf_aligned_text *from, clf_aligned_text *to)
{
    clf_rewrite rewrite = {.from = from, .to = to, .end = from->text.length};
    for (size_t i = 0; i < from->text.length;) {
        uint32_t code, lower[CLFI_LOWER_MAX];
        i += clfi_utf8_decode((const unsigned char *)from->text.data + i, from->text.length - i, &code);
        const size_t count = clfi_char_lower(code, lower);
        for (size_t k = 0; k < count; k++)
            CLF_TRY(clfi_rewrite_put(&rewrite, lower[k], k > 0));
    }
    return CLF_OK;
}

static clf_status run_lowercase(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work)
{
    (void)settings;
    (void)work;
    return clfi_lowercase(from, to);
}

const clf_normalizer_kind clfi_normalizer_lowercase = {{"Lowercase", NULL, NULL}, run_lowercase, .is_local = true};

enum { REMOVED = -1 };

/* A character as StripAccents or Nmt maps it; REMOVED: it is dropped. */
static int64_t without_accent(uint32_t code)
{
    return clfi_char_is_accent(code) ? REMOVED : (int64_t)code;
}

/* SentencePiece's rules for machine translation: control characters are dropped, separators of all kinds become spaces. */
static int64_t nmt(uint32_t code)
{
    if ((code >= 0x1 && code <= 0x8) || code == 0xb || (code >= 0xe && code <= 0x1f) || code == 0x7f || code == 0x8f || code == 0x9f)
        return REMOVED;
    if (code == 0x9 || code == 0xa || code == 0xc || code == 0xd || code == 0x1680 || (code >= 0x200b && code <= 0x200f) ||
        code == 0x2028 || code == 0x2029 || code == 0x2581 || code == 0xfeff || code == 0xfffd)
        return ' ';
    return code;
}

static clf_status map_characters(int64_t (*map)(uint32_t), const clf_aligned_text *from, clf_aligned_text *to)
{
    clf_rewrite rewrite = {.from = from, .to = to, .end = from->text.length};
    for (size_t i = 0; i < from->text.length;) {
        uint32_t code;
        i += clfi_utf8_decode((const unsigned char *)from->text.data + i, from->text.length - i, &code);
        const int64_t mapped = map(code);
        if (mapped == REMOVED)
            clfi_rewrite_skip(&rewrite, 1);
        else
            CLF_TRY(clfi_rewrite_put(&rewrite, (uint32_t)mapped, 0));
    }
    return CLF_OK;
}

static clf_status run_strip_accents(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work)
{
    (void)settings;
    (void)work;
    return map_characters(without_accent, from, to);
}

const clf_normalizer_kind clfi_normalizer_strip_accents = {{"StripAccents", NULL, NULL}, run_strip_accents, .is_local = true};

static clf_status run_nmt(const void *settings, const clf_aligned_text *from, clf_aligned_text *to, clf_text_workspace *work)
{
    (void)settings;
    (void)work;
    return map_characters(nmt, from, to);
}

const clf_normalizer_kind clfi_normalizer_nmt = {{"Nmt", NULL, NULL}, run_nmt, .is_local = true};
