/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For C and the assembler: where trampoline.S finds what it looks at itself. call.c asserts that all of it is so.
 */
#ifndef TPROF_HOOKS_OPS_LAYOUT_H
#define TPROF_HOOKS_OPS_LAYOUT_H

#include "core/handler_stack.h"

/* struct tp_thread */
#define TP_THREAD_AT TP_HANDLER_STACK_END
#define TP_THREAD_LIMIT (TP_HANDLER_STACK_END + 8)
#define TP_THREAD_CHUNK (TP_HANDLER_STACK_END + 16)
#define TP_THREAD_BUSY (TP_HANDLER_STACK_END + 48)
#define TP_THREAD_BUSY_FRAME (TP_HANDLER_STACK_END + 56)
#define TP_THREAD_BUSY_RETURN (TP_HANDLER_STACK_END + 64)
#define TP_THREAD_LOW (TP_HANDLER_STACK_END + 72)
#define TP_THREAD_EXTENT (TP_HANDLER_STACK_END + 112)
#define TP_THREAD_FOLD (TP_HANDLER_STACK_END + 256)

/* its struct tp_fold */
#define TP_FOLD_FRAME TP_THREAD_FOLD
#define TP_FOLD_START (TP_THREAD_FOLD + 8)
#define TP_FOLD_HOT_NOW (TP_THREAD_FOLD + 16)
#define TP_FOLD_SCOPE (TP_THREAD_FOLD + 24)
#define TP_FOLD_OUTER (TP_THREAD_FOLD + 32)
#define TP_FOLD_UNTIMED (TP_THREAD_FOLD + 40)
#define TP_FOLD_FILLED (TP_THREAD_FOLD + 48)
#define TP_FOLD_HOTS_AT (TP_THREAD_FOLD + 64)
#define TP_LAYOUT_HOTS 64
#define TP_FOLD_STOP (TP_FOLD_HOTS_AT + (TP_LAYOUT_HOTS << TP_HOT_SHIFT))

/* struct tp_fold_hot */
#define TP_HOT_KEY 0
#define TP_HOT_CALLER 8
#define TP_HOT_FUNCTION 16
#define TP_HOT_COPY 24
#define TP_HOT_COUNT 32
#define TP_HOT_UNTIL 40
#define TP_HOT_UNITS 48
#define TP_HOT_EPOCH 56
#define TP_HOT_ALIGN 60
#define TP_HOT_TYPED 62
#define TP_HOT_WINDOW 64
#define TP_HOT_SHARE 61
#define TP_HOT_RAW 72
#define TP_HOT_SHIFT 8 /* log2 of its size */

/* struct tprof_fold */
#define TP_COUNT_TICKS 0
#define TP_COUNT_UNITS 8
#define TP_COUNT_CALLS 16
#define TP_COUNT_MIN 20
#define TP_COUNT_MAX 24
#define TP_COUNT_HISTOGRAM 32

#define TP_LAYOUT_STAMP 80     /* TP_RECALL_STAMP */
#define TP_LAYOUT_GATE 604     /* tp_gate(), from tp_header_area */
#define TP_LAYOUT_FUNCTION 320 /* size of a struct tp_op_function */
#define TP_LAYOUT_MODE_ON 2
#define TP_LAYOUT_BUSY_RECORD 2
#define TP_LAYOUT_LIMIT (65536 - 128) /* from the chunk's begin: TPROF_CHUNK_SIZE - TP_RECORD_MAX */
#define TP_LAYOUT_ROOM 256	      /* has_room() */
#define TP_LAYOUT_CALLS 4095	      /* the last but one that a record counts: TP_FOLD_FULL - 1 */
#define TP_LAYOUT_SHORTEST 4	      /* ticks: what is shorter has a bucket of another kind */
#define TP_LAYOUT_TICKS 8192	      /* TP_FOLD_TICKS */

/* enum tp_fold_share */
#define TP_HOT_SHARE_PLAIN 1
#define TP_HOT_SHARE_WINDOW 2

/* Bits of tp_fold_hot.typed. */
#define TP_HOT_BY_PARTS 1
#define TP_HOT_BY_RBP 2	      /* raw[0]: the caller's rbp, from the stub's frame */
#define TP_HOT_BY_FIRST 4     /* beside BY_PARTS: raw[0] alone, which is the first argument, 32 bits */
#define TP_HOT_BY_REFERENCE 8 /* beside BY_FIRST: or what it points to */

#define TP_WINDOW_NEAR                                                                                                 \
	256 /* bytes of stack arguments that are copied one by one: rep takes some tens of cycles to begin */
#define TP_COPY_BYTES 6 /* of an instruction that copies 8 of them */

#endif
