/* SPDX-License-Identifier: MIT */
/* Work beside rehearsals and recordings. */
#include "runtime/aside.h"

clf_aside clfi_aside_begin(clf_context *context)
{
    const clf_aside aside = {context->rehearsal, context->recording};
    context->rehearsal = NULL;
    context->recording = NULL;
    return aside;
}

void clfi_aside_end(clf_context *context, clf_aside aside)
{
    context->rehearsal = aside.rehearsal;
    context->recording = aside.recording;
}
