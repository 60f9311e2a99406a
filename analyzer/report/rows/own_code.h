/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines of a stack are the user's own code, and which belong to libraries that it calls. */
#ifndef TPROF_REPORT_ROWS_OWN_CODE_H
#define TPROF_REPORT_ROWS_OWN_CODE_H

#include "report/rows/stack.h"

/*
 * Did the user write the line? A Python line is the user's if its file is not installed. A native line is the user's if its module
 * and source file lie outside the system's folders and Python's packages, and its function does not belong to the allocator, the
 * language's library, the start-up code, or the interpreter that runs the stack's Python lines.
 */
bool tpa_line_is_own(const struct tpa_stack *stack, const struct tpa_line *line);

/* The innermost line of the stack that the user wrote and whose source file is known; NULL: there is none. Points into the stack. */
const struct tpa_line *tpa_stack_user_line(const struct tpa_stack *stack);

#endif
