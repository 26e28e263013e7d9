/* SPDX-License-Identifier: MIT */
/* The one writer of JSON texts, and copies of JSON values. */
#include <math.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/utf8.h"
#include "io/json.h"
#include "io/json_memory.h"
#include "io/json_python.h"

static void release(char *text)
{
    json_free_t release_block;
    json_get_alloc_funcs(NULL, &release_block);
    release_block(text);
}

static bool is_finite(const json_t *value)
{
    const char *key;
    json_t *inner;
    size_t i;
    json_object_foreach((json_t *)value, key, inner) if (!is_finite(inner)) return false;
    json_array_foreach(value, i, inner) if (!is_finite(inner)) return false;
    return !json_is_real(value) || isfinite(json_real_value(value));
}

/* The text of json_dumps; NULL: not enough memory, also where json_dumps would leave a key out, or where an allocation failed before: the
 * value may be incomplete. Release with the allocator's function. */
static char *dump(const json_t *value, size_t flags)
{
    char *text = value ? json_dumps(value, flags | JSON_ENCODE_ANY) : NULL;
    if (!clfi_json_memory_failed())
        return text;
    release(text);
    return NULL;
}

clf_status clfi_json_write(const json_t *value, size_t flags, const char *what, clf_str *out)
{
    const bool is_plain = is_finite(value);
    json_t *standing = is_plain ? NULL : clfi_json_stand_in(value);
    char *text = dump(is_plain ? value : standing, flags);
    json_decref(standing);
    if (!text)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s as JSON: not enough memory", what);
    const clf_status st = is_plain ? clfi_str_append_text(out, text) : clfi_json_append_restored(text, out);
    release(text);
    return st;
}

static json_t *copy_array(const json_t *array)
{
    json_t *copy = json_array();
    for (size_t i = 0; copy && i < json_array_size(array); i++) {
        if (json_array_append_new(copy, clfi_json_copy(json_array_get(array, i))) == 0)
            continue;
        json_decref(copy);
        copy = NULL;
    }
    return copy;
}

static json_t *copy_object(const json_t *object)
{
    const char *key;
    size_t length;
    json_t *value, *copy = json_object();
    json_object_keylen_foreach((json_t *)object, key, length, value)
    {
        if (!copy || json_object_setn_new_nocheck(copy, key, length, clfi_json_copy(value)) == 0)
            continue;
        json_decref(copy);
        copy = NULL;
    }
    return copy;
}

json_t *clfi_json_copy(const json_t *value)
{
    if (json_is_array(value))
        return copy_array(value);
    return json_is_object(value) ? copy_object(value) : json_incref((json_t *)value);
}

json_t *clfi_json_text(const char *text, size_t size)
{
    enum { REPLACEMENT = 0xfffd };
    json_t *string = json_stringn(text, size);
    clf_str clean = CLF_STR_INIT;
    clf_status st = CLF_OK;
    uint32_t code;
    for (size_t i = 0; !string && st == CLF_OK && i < size;) {
        i += clfi_utf8_decode((const unsigned char *)text + i, size - i, &code);
        st = clfi_str_append_code_point(&clean, code == CLFI_UTF8_INVALID ? (uint32_t)REPLACEMENT : code);
    }
    if (!string && st == CLF_OK)
        string = json_stringn(clfi_str_text(&clean), clean.length);
    clfi_str_free(&clean);
    return string;
}
