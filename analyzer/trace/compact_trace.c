/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/compact_trace.h"

#include "trace/impl.h"

static size_t read_bytes(void *context, void *buffer, size_t size, uint64_t offset)
{
	return tpa_trace_bytes_at(context, buffer, size, offset);
}

bool tpa_trace_compact(const struct tpa_trace *trace, FILE *file, const uint8_t *names, size_t length,
		       const struct tpa_compact_edit *edit, char **error)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);
	struct tpa_compact_input input = { .read = read_bytes,
					   .context = impl,
					   .trace_bytes = trace->file_bytes,
					   .header_size = (uint32_t)impl->header_size,
					   .chunk_size = (uint32_t)impl->chunk_size,
					   .names = names,
					   .names_length = length,
					   .edit = edit };

	return tpa_compact_write(file, &input, error);
}

const uint8_t *tpa_trace_embedded(const struct tpa_trace *trace, size_t *length)
{
	const struct tpa_trace_impl *impl = tpa_impl(trace); /* NULL: the trace was not read from a file */
	struct tpa_compact *compact = impl ? impl->compact : NULL;

	return compact ? tpa_compact_names(compact, length) : NULL;
}
