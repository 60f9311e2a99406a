/* SPDX-License-Identifier: Apache-2.0 */
/* For C and the assembler: bytes of the stack that the sampler's handler runs on, the first part of struct tp_thread. */
#ifndef TPROF_CORE_HANDLER_STACK_H
#define TPROF_CORE_HANDLER_STACK_H

#ifdef TPROF_VERIFY /* libunwind runs on it too */
#define TP_HANDLER_STACK_END 262144
#else
#define TP_HANDLER_STACK_END 16384
#endif

#endif
