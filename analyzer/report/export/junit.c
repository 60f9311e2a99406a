/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/junit.h"

#include <stdio.h>

#include "report/text/output.h"
#include "report/text/xml.h"

bool tpa_junit_write(const char *path, const struct tpa_junit_case *cases, size_t count)
{
	struct tpa_output output;
	FILE *out = tpa_output_open(&output, path);
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
		tpa_xml_text(cases[i].name, out);
		fputs(cases[i].failure ? "\"><failure message=\"" : "\"/>\n", out);
		if (cases[i].failure) {
			tpa_xml_text(cases[i].failure, out);
			fputs("\"/></testcase>\n", out);
		}
	}
	fputs("</testsuite>\n", out);
	good = !ferror(out);
	good = fclose(out) == 0 && good;
	return tpa_output_end(&output, good) && good;
}
