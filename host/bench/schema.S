/* SPDX-License-Identifier: MIT */
/* result.schema.json as read-only data of the program. CLF_RESULT_SCHEMA is the file's path. */
#ifdef __APPLE__
#define SYMBOL(name) _##name
#define HIDDEN .private_extern
        .const_data
#else
#define SYMBOL(name) name
#define HIDDEN .hidden
        .section .rodata
#endif

        .globl SYMBOL(clfi_result_schema)
        HIDDEN SYMBOL(clfi_result_schema)
SYMBOL(clfi_result_schema):
        .incbin CLF_RESULT_SCHEMA
        .globl SYMBOL(clfi_result_schema_end)
        HIDDEN SYMBOL(clfi_result_schema_end)
SYMBOL(clfi_result_schema_end):
        .byte 0

#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack, "", %progbits
#endif
