/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "report/json/json.h"
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
	tpa_pairs_free(&export->indexes);
}

bool tpa_export_one_process(struct tpa_export *export)
{
	size_t count = export->run->process_count;

	if (count == 1)
		return true;
	export->error =
		count ? tpa_format("the format has one process, and the traces have %zu: --process PID says which",
				   count)
		      : tpa_strdup("there is no such process in the traces");
	return false;
}

size_t tpa_export_index(struct tpa_export *export, const struct tpa_process *process)
{
	for (size_t i = export->indexes.count; i < export->trace_count; i++)
		tpa_pairs_set(&export->indexes, (uintptr_t) export->traces[i], 0, (uint32_t)i + 1);
	return tpa_pairs_find(&export->indexes, (uintptr_t)process->trace, 0) - 1;
}

const char *tpa_export_process_name(const struct tpa_trace *trace, char *text, size_t size)
{
	snprintf(text, size, "%.200s (pid %" PRIu32 ")", tpa_program_name(trace), trace->header->pid);
	return text;
}

/* Whether the character of that many bytes is a control character: of ASCII, or U+0080 to U+009F. */
static bool is_control(const unsigned char *text, int bytes)
{
	return bytes == 1 ? text[0] < 0x20 || text[0] == 0x7f : bytes == 2 && text[0] == 0xc2 && text[1] < 0xa0;
}

char *tpa_export_text(const char *text, size_t length)
{
	size_t size = strnlen(text, length), used = 0;
	char *copy = tpa_zalloc(size + 1, 1);

	for (size_t i = 0; i < size;) {
		const unsigned char *at = (const unsigned char *)text + i;
		int bytes = tpa_utf8_bytes(at, size - i);

		if (bytes > 0 && !is_control(at, bytes)) {
			memcpy(copy + used, at, (size_t)bytes);
			used += (size_t)bytes;
		} else {
			copy[used++] = '?';
		}
		i += bytes > 0 ? (size_t)bytes : 1;
	}
	return copy;
}

char *tpa_export_quote(const char *text, size_t length)
{
	char *copy = tpa_strndup(text, length), *quoted;
	json_t *json = tpa_json_string(copy);

	quoted = json_dumps(json, JSON_ENCODE_ANY);
	json_decref(json);
	free(copy);
	return quoted;
}

void tpa_export_put(FILE *out, const char *text)
{
	char *quoted = text ? tpa_export_quote(text, strlen(text)) : NULL;

	fputs(quoted ? quoted : "null", out);
	free(quoted);
}

const char *tpa_export_thread_name(const char *name, uint32_t tid, char *text, size_t size)
{
	snprintf(text, size, "%.48s (tid %" PRIu32 ")", name && *name ? name : "thread", tid);
	return text;
}
