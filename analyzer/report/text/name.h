/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_REPORT_TEXT_NAME_H
#define TPROF_REPORT_TEXT_NAME_H

#include "report/text/text.h"

/*
 * A function's name for a line of text, without parameters (the line number tells overloads apart). If it is still
 * wider than `columns`, shortens template arguments to <..>, then leaves out its middle. Returns `buffer`.
 */
char *tpa_short_name(const struct tpa_page *page, const char *name, int columns, char *buffer, size_t size);

#endif
