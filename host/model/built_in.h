/* SPDX-License-Identifier: MIT */
/* Files of host/model/g2p inside the library (built_in.S). */
#ifndef CLFI_MODEL_BUILT_IN_H
#define CLFI_MODEL_BUILT_IN_H

#define CLFI_BUILT_IN __attribute__((visibility("hidden")))

/* config.json and model.safetensors; both begin at a multiple of 4,096 bytes, so that devices can use the weights in place. */
extern const unsigned char clfi_g2p_config[] CLFI_BUILT_IN, clfi_g2p_config_end[] CLFI_BUILT_IN;
extern const unsigned char clfi_g2p_weights[] CLFI_BUILT_IN, clfi_g2p_weights_end[] CLFI_BUILT_IN;

#endif
