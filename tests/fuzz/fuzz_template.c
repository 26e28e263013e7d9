/* SPDX-License-Identifier: MIT */
/* Any bytes as a chat template over a short conversation: it ends, and what it gives is UTF-8. */
#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "template/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static json_t *variables;
    clf_template *tpl;
    clf_str out = CLF_STR_INIT;
    if (!variables)
        variables = json_pack("{s:[{s:s, s:s}, {s:s, s:s}], s:b, s:s, s:[{s:s, s:{s:s, s:{s:i, s:[f, n, b]}}}]}", "messages", "role",
                              "system", "content", " a\n", "role", "user", "content", "ä", "add_generation_prompt", 1, "bos_token", "<s>",
                              "tools", "type", "function", "function", "name", "f", "parameters", "a", 1, "b", 1.5, 1);
    if (clfi_template_parse((const char *)data, size, "fuzz", &tpl) != CLF_OK) {
        if (clf_last_error()[0] == '\0')
            abort();
        return 0;
    }
    if (clfi_template_render(tpl, variables, 0, &out) == CLF_OK &&
        clfi_utf8_check((const unsigned char *)clfi_str_text(&out), out.length) != out.length)
        abort();
    clfi_str_free(&out);
    clfi_template_destroy(tpl);
    return 0;
}
