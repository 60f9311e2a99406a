/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations that take their own stack, by libunwind: what a report's stack is compared with. Each has a size of its
 * own, and is never freed. The truth is JSON: {"stacks": [{"size", "function", "frames": [["module", offset], ...]}]},
 * frames innermost first, return addresses as offsets in their module.
 */
#ifndef STACKNOTE_H
#define STACKNOTE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Notes its caller's stack; returns the size to allocate. */
size_t stack_note(const char *function);

/* Writes all notes to TRUTH_FILE. */
void stack_notes_write(void);

#ifdef __cplusplus
}
#endif

/* The note's frame and malloc's differ in nothing but the place within this function. */
#define NOTED_MALLOC() malloc(stack_note(__func__))

#endif
