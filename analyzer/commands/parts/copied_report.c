/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/copied_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/rows/copied.h"
#include "report/text/numbers.h"

/* "87.3 MiB", or with the extremes if they differ. */
static void print_copied_row(const struct tpa_page *page, const struct tpa_copied_row *row)
{
	if (row->processes > 1)
		fprintf(page->out, "  each of %zu forks of %" PRIu32, row->processes, row->parent);
	else
		fprintf(page->out, "  a fork of %" PRIu32, row->parent);
	fprintf(page->out, " wrote to %s of its parent's pages", tpa_bytes(row->bytes, page->exact).text);
	if (row->high - row->low > row->bytes / 20)
		fprintf(page->out, " (%s to %s)", tpa_bytes(row->low, page->exact).text,
			tpa_bytes(row->high, page->exact).text);
	fputs(", and so has its own copy of them (copy-on-write)", page->out);
	if (row->python >= row->bytes / 20)
		fprintf(page->out,
			":\n    %s of it by Python's reference counts: an object that is only read is written to, for "
			"the "
			"count in it",
			tpa_bytes(row->python, page->exact).text);
	fputc('\n', page->out);
}

void tpa_copied_print(struct tpa_session *session, const struct tpa_page *page)
{
	struct tpa_copied_row *rows;
	size_t count;

	tpa_session_open_symbols(session);
	rows = tpa_copied_rows(session->run, session->symbols, &count);
	for (size_t i = 0; i < count; i++)
		print_copied_row(page, &rows[i]);
	free(rows);
}
