/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines of a stack the user wrote, and which belong to libraries that he only calls. */
#ifndef TPROF_REPORT_ROWS_OWN_CODE_H
#define TPROF_REPORT_ROWS_OWN_CODE_H

#include "report/rows/stack.h"

/* Is the Python file, which may be NULL, of the standard library, of an installed package, or code that one of them generated? */
bool tpa_python_is_installed(const char *file);

/*
 * Did the user write the line? Python: its file is not an installed one. Native: its module and its source file lie outside the
 * system's folders and outside Python's packages, and it is no function of the allocator, of the language's library, or of the
 * interpreter that runs the Python lines of the stack.
 */
bool tpa_line_is_own(const struct tpa_stack *stack, const struct tpa_line *line);

#endif
