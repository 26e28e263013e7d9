/* SPDX-License-Identifier: MIT */
/* The record of a part of the keys of cached attention: HEAD mixed values, then their maximum and sum. */
#ifndef HEAD
#error "HEAD: elements of a head"
#endif

#define PART_MAXIMUM HEAD
#define PART_SUM (HEAD + 1)
#define PART_SIZE (HEAD + 2)
