/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"

struct gen *gen_new(const struct gen_options *options)
{
	struct gen *gen = tg_must(calloc(1, sizeof(*gen)));
	struct tprof_header *header = &gen->header;

	memcpy(header->magic, TPROF_MAGIC, sizeof(header->magic));
	header->version = TPROF_VERSION;
	header->header_size = options->header_size ? options->header_size : 4096;
	header->chunk_size = options->chunk_size ? options->chunk_size : 4096;
	header->page_size = 4096;
	header->pid = options->pid ? options->pid : 4711;
	header->ppid = 1;
	header->origin = options->origin ? options->origin : TPROF_ORIGIN_FIRST;
	header->clock = options->clock ? options->clock : TPROF_CLOCK_MONOTONIC;
	header->tick_shift = options->tick_shift;
	header->depth = 256;
	header->start = (struct tprof_moment){ options->start_ticks, options->start_ticks, options->start_unix_ns };
	gen->text = tg_must(calloc(1, header->header_size));
	gen->text_used = sizeof(*header) < TPROF_TEXT_OFFSET ? TPROF_TEXT_OFFSET : sizeof(*header);
	return gen;
}

void gen_free(struct gen *gen)
{
	size_t i;

	for (i = 0; i < gen->chunk_count; i++)
		free(gen->chunks[i].bytes);
	free(gen->chunks);
	free(gen->text);
	free(gen->file);
	free(gen);
}

struct tprof_header *gen_header(struct gen *gen)
{
	return &gen->header;
}

void gen_text(struct gen *gen, enum tprof_text which, const void *text, size_t length)
{
	if (gen->text_used + length > gen->header.header_size)
		tg_die("too much text");
	memcpy(gen->text + gen->text_used, text, length);
	gen->header.text[which] = (struct tprof_span){ (uint32_t)gen->text_used, (uint32_t)length };
	gen->text_used += length;
}

void gen_overhead(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t samples)
{
	size_t i;

	for (i = 0; i < gen->chunk_count; i++)
		if (gen->chunks[i].owner == thread) {
			gen->chunks[i].header.overhead_ticks = 64 * ticks * samples;
			gen->chunks[i].header.overhead_samples = samples;
		}
}

void gen_free_overhead(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t samples, uint32_t timed)
{
	size_t i;

	for (i = 0; i < gen->chunk_count; i++)
		if (gen->chunks[i].owner == thread) {
			gen->chunks[i].header.free_ticks = 64 * ticks * samples;
			gen->chunks[i].header.free_samples = samples;
			gen->chunks[i].header.free_timed = timed;
		}
}

void gen_timed(struct gen *gen, uint32_t thread, const uint32_t *ticks, size_t count)
{
	size_t i;

	for (i = 0; i < gen->chunk_count; i++)
		if (gen->chunks[i].owner == thread)
			memcpy(gen->chunks[i].header.timed, ticks, count * sizeof(*ticks));
}

void gen_end_thread(struct gen *gen, uint32_t thread)
{
	size_t i;

	for (i = 0; i < gen->chunk_count; i++)
		if (gen->chunks[i].owner == thread)
			gen->chunks[i].owner = 0;
}

void gen_finish(struct gen *gen, uint64_t ticks, int status)
{
	gen->header.end = TPROF_END_EXIT;
	gen->header.end_status = status;
	gen->header.finish =
		(struct tprof_moment){ ticks, ticks, gen->header.start.unix_ns + (ticks - gen->header.start.ticks) };
}

const uint8_t *gen_bytes(struct gen *gen, size_t *size)
{
	size_t head = gen->header.header_size, i;

	*size = head + gen->chunk_count * gen->header.chunk_size;
	free(gen->file);
	gen->file = tg_must(calloc(1, *size));
	memcpy(gen->file, gen->text, head);
	memcpy(gen->file, &gen->header, sizeof(gen->header));
	for (i = 0; i < gen->chunk_count; i++) {
		uint8_t *at = gen->file + head + i * gen->header.chunk_size;
		struct chunk *chunk = &gen->chunks[i];

		chunk->header.committed = chunk->used;
		memcpy(at, &chunk->header, sizeof(chunk->header));
		memcpy(at + sizeof(chunk->header), chunk->bytes, chunk->used);
	}
	return gen->file;
}

const char *gen_save_bytes(const void *bytes, size_t size)
{
	static char name[256];
	const char *folder = getenv("TMPDIR");
	int fd;

	snprintf(name, sizeof(name), "%s/tracegen.XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(name);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) < 0)
		tg_die("can't write a temporary file");
	return name;
}

const char *gen_save(struct gen *gen)
{
	size_t size;
	const uint8_t *bytes = gen_bytes(gen, &size);

	return gen_save_bytes(bytes, size);
}
