/* SPDX-License-Identifier: MIT */
/* The struct behind clf_transformer: a network and its public configuration. */
#ifndef CLFI_MODEL_TRANSFORMER_H
#define CLFI_MODEL_TRANSFORMER_H

#include "model/packing.h"

/* State of one thread that runs a network; threads may share the network. */
struct clf_transformer {
    clf_context *context; /* retained */
    clf_network *network; /* one reference */
    clf_transformer_config config;
    clf_packer packer;
};

/* The public configuration of a network whose two stacks are alike, as those of families with CLF_TASK_TRANSFORM are. */
clf_transformer_config clfi_transformer_config_of(const clf_network_config *network);

#endif
