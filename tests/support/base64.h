/* SPDX-License-Identifier: MIT */
/* Decodes Base64 (RFC 4648), in which golden files store texts that are not UTF-8. */
#ifndef CLF_TEST_BASE64_H
#define CLF_TEST_BASE64_H

#include <string.h>

#include "base/str.h"
#include "support/check.h"

/* The value of a digit; -1: not a digit. */
static inline int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes text up to its first character that is no digit, and appends the bytes to out. */
static inline void append_base64(const char *text, clf_str *out)
{
    unsigned bits = 0;
    int count = 0;
    for (int digit; (digit = base64_digit(*text)) >= 0; text++) {
        bits = bits << 6 | (unsigned)digit;
        count += 6;
        if (count >= 8) {
            count -= 8;
            CHECK_OK(clfi_str_append_char(out, (char)(bits >> count)));
            bits &= (1u << count) - 1;
        }
    }
}

#endif
