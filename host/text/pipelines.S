/* SPDX-License-Identifier: MIT */
/* pipelines.json as read-only data of the library (tokenizer_pipeline.c). CLF_PIPELINES is the file's path. */
#ifdef __APPLE__
#define SYMBOL(name) _##name
#define HIDDEN .private_extern
        .const_data
#else
#define SYMBOL(name) name
#define HIDDEN .hidden
        .section .rodata
#endif

        .globl SYMBOL(clfi_pipelines)
        HIDDEN SYMBOL(clfi_pipelines)
SYMBOL(clfi_pipelines):
        .incbin CLF_PIPELINES
        .globl SYMBOL(clfi_pipelines_end)
        HIDDEN SYMBOL(clfi_pipelines_end)
SYMBOL(clfi_pipelines_end):
        .byte 0

#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack, "", %progbits
#endif
