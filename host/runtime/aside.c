/* SPDX-License-Identifier: MIT */
/* Sets a rehearsal or recording of a context aside while other work is done. */
#include "runtime/aside.h"

clf_aside clfi_aside_begin(clf_context *context)
{
    const clf_aside aside = {context->rehearsal, context->recording, context->kernel_dump};
    context->rehearsal = NULL;
    context->recording = NULL;
    return aside;
}

clf_aside clfi_aside_begin_undumped(clf_context *context)
{
    const clf_aside aside = clfi_aside_begin(context);
    context->kernel_dump = NULL;
    return aside;
}

void clfi_aside_end(clf_context *context, clf_aside aside)
{
    context->rehearsal = aside.rehearsal;
    context->recording = aside.recording;
    context->kernel_dump = aside.kernel_dump;
}
