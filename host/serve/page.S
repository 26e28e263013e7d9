/* SPDX-License-Identifier: MIT */
/* page.html as read-only data of the program. CLF_SERVE_PAGE is the file's path. */
#ifdef __APPLE__
#define SYMBOL(name) _##name
#define HIDDEN .private_extern
        .const_data
#else
#define SYMBOL(name) name
#define HIDDEN .hidden
        .section .rodata
#endif

        .globl SYMBOL(clfi_serve_page)
        HIDDEN SYMBOL(clfi_serve_page)
SYMBOL(clfi_serve_page):
        .incbin CLF_SERVE_PAGE
        .globl SYMBOL(clfi_serve_page_end)
        HIDDEN SYMBOL(clfi_serve_page_end)
SYMBOL(clfi_serve_page_end):
        .byte 0

#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack, "", %progbits
#endif
