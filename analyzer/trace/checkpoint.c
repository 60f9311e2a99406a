/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/checkpoint.h"

#include <stdlib.h>
#include <zstd.h>

#include "trace/impl.h"

#define MOST (UINT64_C(1) << 34) /* bytes of a checkpoint that is believed */

const struct tprof_checkpoint *tpa_trace_checkpoint(const struct tpa_trace *trace)
{
	const struct tprof_checkpoint *checkpoint = &trace->header->checkpoints[trace->header->checkpoint % 2];

	return trace->header->ring_bytes && trace->header->checkpoint ? checkpoint : NULL;
}

uint64_t tpa_trace_ring_room(const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;

	if (header->ring_places >= tprof_ring_places(header->ring_bytes))
		return header->ring_bytes;
	return TPROF_HEADER_SIZE + (uint64_t)header->ring_places * TPROF_CHUNK_SIZE;
}

/* The chunk with that part; NULL: it is not there. */
static const struct tpa_chunk *find_part(const struct tpa_trace_impl *impl, uint64_t number, uint64_t part)
{
	for (size_t i = 0; i < impl->states.count; i++) {
		const struct tpa_chunk *chunk = &impl->states.list[i];

		if (chunk->overhead_ticks == number && chunk->thread == part)
			return chunk;
	}
	return NULL;
}

/* The bytes of all parts; NULL: one is missing. */
static uint8_t *read_parts(const struct tpa_trace_impl *impl, const struct tprof_checkpoint *checkpoint)
{
	uint8_t *bytes =
		checkpoint->bytes <= impl->trace.file_bytes ? tpa_resize(NULL, 1, checkpoint->bytes + 1) : NULL;
	uint64_t done = 0;

	for (uint64_t part = 0; bytes && done < checkpoint->bytes; part++) {
		const struct tpa_chunk *chunk = find_part(impl, checkpoint->number, part);

		if (!chunk || !chunk->committed || chunk->committed > checkpoint->bytes - done ||
		    tpa_trace_bytes_at(impl, bytes + done, chunk->committed,
				       chunk->offset + sizeof(struct tprof_chunk)) < chunk->committed)
			break;
		done += chunk->committed;
	}
	if (bytes && done == checkpoint->bytes)
		return bytes;
	free(bytes);
	return NULL;
}

static uint8_t *expand(const uint8_t *bytes, uint64_t length, size_t *size)
{
	unsigned long long content = ZSTD_getFrameContentSize(bytes, length);
	uint8_t *expanded;

	if (content > MOST || content / 4096 > length + 65536) /* an error is a large number, too */
		return NULL;
	expanded = tpa_resize(NULL, 1, content + 1);
	*size = ZSTD_decompress(expanded, content, bytes, length);
	if (!ZSTD_isError(*size) && *size == content)
		return expanded;
	free(expanded);
	return NULL;
}

uint8_t *tpa_checkpoint_read(struct tpa_trace *trace, size_t *size)
{
	const struct tprof_checkpoint *checkpoint = tpa_trace_checkpoint(trace);
	uint8_t *bytes, *expanded = NULL;

	if (!checkpoint)
		return NULL;
	bytes = read_parts(tpa_impl(trace), checkpoint);
	if (bytes)
		expanded = expand(bytes, checkpoint->bytes, size);
	if (!expanded)
		tpa_damage_add(trace, offsetof(struct tprof_header, checkpoint), checkpoint->bytes,
			       bytes ? "the ring's checkpoint can't be decompressed"
				     : "a part of the ring's checkpoint is missing");
	free(bytes);
	return expanded;
}
