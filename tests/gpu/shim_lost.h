/* SPDX-License-Identifier: MIT */
/* A device that is lost: calls on the queues of all contexts that there are end with CL_OUT_OF_RESOURCES from then on. Contexts that are
 * made later work. CLF_TEST_GPU_LOSE says when, by the number of such calls since the program's start, counted from 1. "7": at the seventh;
 * "7,9": at the seventh and at the ninth; "7-": from the seventh on, whatever context is made. "7!": at the seventh, one device of several:
 * only the context of that call is lost, and contexts that its thread makes later are lost too. CLF_TEST_GPU_LOSE_ON=TEXT: calls count, and
 * contexts are lost, only on the devices that have the text in the name by which PoCL knows them ("basic"). CLF_TEST_GPU_LOSS=CODE: calls
 * end with this code of OpenCL instead, and those that wait end well. CLF_TEST_GPU_CALLS=FILE: the number of calls is written there at
 * the program's end. */
#ifndef CLF_TEST_GPU_SHIM_LOST_H
#define CLF_TEST_GPU_SHIM_LOST_H

#include "shim_real.h"

/* Counts a call on the queue. Returns CL_SUCCESS, or the code that it ends with because its context is lost. */
cl_int shim_lost(cl_command_queue queue);

#endif
