/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "report/rows/process_facts.h"

struct tpa_symbols *tpa_export_symbols(struct tpa_export *export, size_t which)
{
	if (!export->symbols)
		export->symbols = tpa_zalloc(export->trace_count, sizeof(*export->symbols));
	if (!export->symbols[which])
		export->symbols[which] = tpa_symbols_open(export->traces[which], &export->names);
	return export->symbols[which];
}

void tpa_export_close(struct tpa_export *export)
{
	for (size_t i = 0; export->symbols && i < export->trace_count; i++)
		tpa_symbols_close(export->symbols[i]);
	free(export->symbols);
	export->symbols = NULL;
}

size_t tpa_export_index(const struct tpa_export *export, const struct tpa_process *process)
{
	size_t i = 0;

	while (export->traces[i] != process->trace)
		i++;
	return i;
}

const char *tpa_export_process_name(const struct tpa_trace *trace, char *text, size_t size)
{
	snprintf(text, size, "%.200s (pid %" PRIu32 ")", tpa_program_name(trace), trace->header->pid);
	return text;
}

/* Length of the character at `text` if it may be shown; 0: its first byte may not. */
static int shown_bytes(const unsigned char *text, size_t left)
{
	int length = tpa_utf8_bytes(text, left);
	bool control = text[0] < 0x20 || text[0] == 0x7f || (length == 2 && text[0] == 0xc2 && text[1] < 0xa0);

	return length < 0 || control ? 0 : length;
}

char *tpa_export_text(const char *text, size_t length)
{
	size_t size = strnlen(text, length), used = 0;
	char *copy = tpa_zalloc(size + 1, 1);

	for (size_t i = 0; i < size;) {
		int bytes = shown_bytes((const unsigned char *)text + i, size - i);

		if (bytes > 0)
			memcpy(copy + used, text + i, (size_t)bytes);
		else
			copy[used] = '?';
		used += bytes > 0 ? (size_t)bytes : 1;
		i += bytes > 0 ? (size_t)bytes : 1;
	}
	return copy;
}
