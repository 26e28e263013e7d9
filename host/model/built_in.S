/* SPDX-License-Identifier: MIT */
/* The grapheme-to-phoneme model as read-only data of the library. CLF_G2P_CONFIG and CLF_G2P_WEIGHTS are the files' paths. */
#ifdef __APPLE__
#define SYMBOL(name) _##name
#define HIDDEN .private_extern
        .const_data
#else
#define SYMBOL(name) name
#define HIDDEN .hidden
        .section .rodata
#endif

        .balign 4096
        .globl SYMBOL(clfi_g2p_weights)
        HIDDEN SYMBOL(clfi_g2p_weights)
SYMBOL(clfi_g2p_weights):
        .incbin CLF_G2P_WEIGHTS
        .globl SYMBOL(clfi_g2p_weights_end)
        HIDDEN SYMBOL(clfi_g2p_weights_end)
SYMBOL(clfi_g2p_weights_end):

        .balign 4096
        .globl SYMBOL(clfi_g2p_config)
        HIDDEN SYMBOL(clfi_g2p_config)
SYMBOL(clfi_g2p_config):
        .incbin CLF_G2P_CONFIG
        .globl SYMBOL(clfi_g2p_config_end)
        HIDDEN SYMBOL(clfi_g2p_config_end)
SYMBOL(clfi_g2p_config_end):
        .byte 0

#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack, "", %progbits
#endif
