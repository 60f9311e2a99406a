/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that stubs.S shares with C; stubs.c asserts them. */
#ifndef TPROF_LEAKCHECK_LAYOUT_H
#define TPROF_LEAKCHECK_LAYOUT_H

#include "core/handler_stack.h"

#define TP_WAIT_STUBS 128			    /* functions; libc has some 80 of the names */
#define TP_WAIT_STUB 128			    /* bytes of each */
#define TP_THREAD_WAIT (TP_HANDLER_STACK_END + 192) /* struct tp_wait in struct tp_thread */

#endif
