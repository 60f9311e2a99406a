/* SPDX-License-Identifier: Apache-2.0 */
#include "report/junit.h"

#include <stdio.h>

/* Text in XML 1.0: five characters have names, control characters are not allowed. */
static void put(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
		}
	}
}

bool tp_junit_write(const char *path, const struct tp_junit_case *cases, size_t count)
{
	FILE *out = fopen(path, "we");
	size_t failures = 0;
	bool good;

	if (!out)
		return false;
	for (size_t i = 0; i < count; i++)
		failures += cases[i].failure != NULL;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tprof check\" tests=\"%zu\" "
		"failures=\"%zu\" errors=\"0\" skipped=\"0\">\n",
		count, failures);
	for (size_t i = 0; i < count; i++) {
		fputs("  <testcase classname=\"tprof.check\" name=\"", out);
		put(out, cases[i].name);
		fputs(cases[i].failure ? "\"><failure message=\"" : "\"/>\n", out);
		if (cases[i].failure) {
			put(out, cases[i].failure);
			fputs("\"/></testcase>\n", out);
		}
	}
	fputs("</testsuite>\n", out);
	good = !ferror(out);
	return fclose(out) == 0 && good;
}
