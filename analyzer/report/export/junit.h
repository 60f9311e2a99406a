/* SPDX-License-Identifier: Apache-2.0 */
/* JUnit XML for continuous integration: one suite, a case for each rule, a failure for each breach. */
#ifndef TPROF_REPORT_EXPORT_JUNIT_H
#define TPROF_REPORT_EXPORT_JUNIT_H

#include <stdbool.h>
#include <stddef.h>

struct tpa_junit_case {
	const char *name;
	const char *failure; /* NULL: passed */
};

/* Returns false with errno set if the file can't be written. */
bool tpa_junit_write(const char *path, const struct tpa_junit_case *cases, size_t count);

#endif
