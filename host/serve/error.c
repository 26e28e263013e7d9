/* SPDX-License-Identifier: MIT */
/* Makes the errors of refused requests. */
#include "serve/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const srv_fault_words *srv_fault_row(srv_fault fault)
{
    static const srv_fault_words rows[] = {[SRV_FAULT_NONE] = {200, "", NULL, 200, ""},
#define SRV_ROW(id, status, type, code, tei_status, word) [SRV_FAULT_##id] = {status, type, code, tei_status, word},
                                           SRV_FAULT_MAP(SRV_ROW)
#undef SRV_ROW
    };
    return &rows[fault];
}

/* Removes a character that vsnprintf has truncated at the end, and makes the text printable. */
static void clean(char *text)
{
    size_t length = strlen(text);
    size_t start = length;
    while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start > 0 && (unsigned char)text[start - 1] >= 0xc0 &&
        clfi_utf8_check((const unsigned char *)text + start - 1, length - start + 1) != length - start + 1)
        text[length = start - 1] = '\0';
    clfi_utf8_make_printable(text, length);
}

bool srv_refuse(srv_error *error, srv_fault fault, const char *param, const char *format, ...)
{
    va_list arguments;
    error->fault = fault;
    snprintf(error->param, sizeof error->param, "%s", param ? param : "");
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    clean(error->message);
    clean(error->param);
    return false;
}

bool srv_is_loss(clf_status status)
{
    return status == CLF_DEVICE || status == CLF_DEVICE_LOST;
}

bool srv_refuse_status(srv_error *error, clf_status status, const char *param)
{
    const srv_fault fault = status == CLF_INVALID_ARGUMENT || status == CLF_FORMAT || status == CLF_UNSUPPORTED ? SRV_FAULT_INVALID
                            : status == CLF_OUT_OF_MEMORY                                                       ? SRV_FAULT_OVERLOADED
                            : srv_is_loss(status)                                                               ? SRV_FAULT_DEVICE
                                                                                                                : SRV_FAULT_BACKEND;
    return srv_refuse(error, fault, param, "%s", clf_last_error());
}
