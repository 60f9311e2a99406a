/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the header: what must be right for the file to be read at all, and its texts. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/tar.h"
#include "trace/bundle.h"
#include "trace/impl.h"

#define HEADER_MAX (1u << 20)
#define CHUNK_MAX (64u << 20)
#define SHIFT_MAX 31u

__attribute__((format(printf, 4, 5))) static bool refuse(const struct tpa_trace_impl *impl, char **error,
							 uint64_t offset, const char *format, ...)
{
	char reason[256];
	va_list list;

	va_start(list, format);
	vsnprintf(reason, sizeof(reason), format, list);
	va_end(list);
	*error = tpa_format("%s: offset %" PRIu64 ": %s", impl->trace.file, offset, reason);
	return false;
}

/* What people name by mistake, by the bytes that such a file begins with. */
static const struct {
	const char *begins;
	size_t length;
	const char *reason;
} known_files[] = {
	{ "\x1f\x8b", 2, "is compressed by gzip: gunzip it first" },
	{ "\x28\xb5\x2f\xfd", 4, "is compressed by zstd: unzstd it first" },
	{ "\xfd\x37zXZ", 5, "is compressed by xz: unxz it first" },
	{ "BZh", 3, "is compressed by bzip2: bunzip2 it first" },
	{ "\x04\x22\x4d\x18", 4, "is compressed by lz4: unlz4 it first" },
	{ "PK\x03\x04", 4, "is a zip archive: unzip it first" },
	{ "\x7f\x45LF", 4,
	  "offset 0: not a tprof trace but a program or a library: "
	  "'tprof run -- PROGRAM' writes its trace" },
};

/* Refuses what does not begin as a trace does. */
static bool refuse_foreign(const struct tpa_trace_impl *impl, size_t got, char **error)
{
	struct tpa_part part = tpa_part_whole(impl->fd);

	for (size_t i = 0; i < sizeof(known_files) / sizeof(known_files[0]); i++) {
		if (got < known_files[i].length ||
		    memcmp(impl->header.magic, known_files[i].begins, known_files[i].length) != 0)
			continue;
		*error = tpa_format("%s: %s", impl->trace.file, known_files[i].reason);
		return false;
	}
	if (tpa_tar_is(&part)) {
		*error = tpa_format("%s: an archive without a trace that can be read", impl->trace.file);
		return false;
	}
	return refuse(impl, error, 0, "not a tprof trace");
}

static bool check_identity(struct tpa_trace_impl *impl, size_t got, char **error)
{
	const struct tprof_header *header = &impl->header;
	size_t magic = sizeof(header->magic);

	if (!got)
		return refuse(impl, error, 0, impl->trace.file_bytes ? "can't be read" : "the file is empty");
	if (memcmp(header->magic, TPROF_MAGIC, got < magic ? got : magic) != 0)
		return refuse_foreign(impl, got, error);
	if (got < sizeof(*header))
		return refuse(impl, error, got, "the file ends inside its header");
	if (header->version != TPROF_VERSION)
		return refuse(impl, error, offsetof(struct tprof_header, version),
			      "written in version %" PRIu32 " of the format; this tprof-analyze reads version %u",
			      header->version, TPROF_VERSION);
	if (header->features_required & ~TPROF_FEATURES_KNOWN)
		return refuse(impl, error, offsetof(struct tprof_header, features_required),
			      "needs features 0x%" PRIx64 " that this tprof-analyze does not know: use a newer one",
			      header->features_required & ~TPROF_FEATURES_KNOWN);
	if (header->machine != TPROF_MACHINE_OLD && header->machine != TPROF_MACHINE_X86_64)
		return refuse(impl, error, offsetof(struct tprof_header, machine),
			      "written on machine %" PRIu32
			      " (ELF's number), which this tprof-analyze can't read; it reads %u",
			      header->machine, TPROF_MACHINE_X86_64);
	if (header->tick_shift > SHIFT_MAX)
		return refuse(impl, error, offsetof(struct tprof_header, tick_shift),
			      "the header is damaged: tick shift %" PRIu32 ", at most %u is possible",
			      header->tick_shift, SHIFT_MAX);
	return true;
}

/* A wrong size would make every chunk look damaged; what the writer always uses is the best guess. */
static void check_sizes(struct tpa_trace_impl *impl)
{
	const struct tprof_header *header = &impl->header;

	impl->header_size = header->header_size;
	if (impl->header_size < sizeof(*header) || impl->header_size > HEADER_MAX || impl->header_size % 8) {
		tpa_damage_add(&impl->trace, offsetof(struct tprof_header, header_size), 0,
			       "impossible header size; the usual one is assumed");
		impl->header_size = TPROF_HEADER_SIZE;
	}
	impl->chunk_size = header->chunk_size;
	if (impl->chunk_size < 4096 || impl->chunk_size > CHUNK_MAX || impl->chunk_size % 4096) {
		tpa_damage_add(&impl->trace, offsetof(struct tprof_header, chunk_size), 0,
			       "impossible chunk size; the usual one is assumed");
		impl->chunk_size = TPROF_CHUNK_SIZE;
	}
	impl->header.header_size = (uint32_t)impl->header_size;
	impl->header.chunk_size = (uint32_t)impl->chunk_size;
}

/* One piece as a string (with a second NUL behind it, so that a list of strings always ends). `at`: of the span, in the header. */
static const char *piece_at(struct tpa_trace_impl *impl, size_t at, char **to, const char *raw, size_t *length)
{
	struct tprof_span span;
	char *begin = *to;

	memcpy(&span, (const char *)&impl->header + at, sizeof(span));
	*length = 0;
	if (span.length && (span.offset < sizeof(impl->header) || span.offset > impl->header_size ||
			    span.length > impl->header_size - span.offset)) {
		tpa_damage_add(&impl->trace, at, span.length, "a text lies outside of the header");
		span.length = 0;
	}
	if (span.length)
		memcpy(begin, raw + span.offset, span.length);
	*length = span.length;
	memset(begin + span.length, 0, 2);
	*to += span.length + 2;
	return begin;
}

static const char *piece(struct tpa_trace_impl *impl, enum tprof_text which, char **to, const char *raw, size_t *length)
{
	return piece_at(impl, offsetof(struct tprof_header, text) + which * sizeof(struct tprof_span), to, raw, length);
}

/* Splits a list of NUL-terminated strings. */
static size_t split(const char *text, size_t length, char **list)
{
	const char *at = text;
	size_t count = 0;

	while (at < text + length) {
		list[count++] = (char *)at;
		at += strlen(at) + 1;
	}
	return count;
}

static void read_text(struct tpa_trace_impl *impl)
{
	struct tpa_trace *trace = &impl->trace;
	size_t size = impl->header_size, total = 2 * (TPROF_TEXT_COUNT + 1), length, args_length, env_length,
	       source_length, job_length;
	char *raw, *to;
	const char *args, *env, *source, *job;

	if (impl->text) /* they never change, and others point to them */
		return;
	raw = tpa_zalloc(1, size);

	for (size_t i = 0; i < TPROF_TEXT_COUNT; i++)
		total += impl->header.text[i].length <= size ? impl->header.text[i].length : 0;
	total += impl->header.job.length <= size ? impl->header.job.length : 0;
	impl->text = tpa_zalloc(1, total);
	impl->lists = tpa_zalloc(total, sizeof(*impl->lists));
	if (tpa_trace_bytes_at(impl, raw, size, 0) < size)
		tpa_damage_add(trace, trace->file_bytes, 0, "the file ends inside its header");
	to = impl->text;
	trace->exe = piece(impl, TPROF_TEXT_EXE, &to, raw, &length);
	trace->cwd = piece(impl, TPROF_TEXT_CWD, &to, raw, &length);
	trace->malloc_path = piece(impl, TPROF_TEXT_MALLOC, &to, raw, &length);
	trace->parent_path = piece(impl, TPROF_TEXT_PARENT, &to, raw, &length);
	trace->started = piece(impl, TPROF_TEXT_STARTED, &to, raw, &length);
	args = piece(impl, TPROF_TEXT_ARGS, &to, raw, &args_length);
	env = piece(impl, TPROF_TEXT_ENV, &to, raw, &env_length);
	source = piece(impl, TPROF_TEXT_SOURCE, &to, raw, &source_length);
	job = piece_at(impl, offsetof(struct tprof_header, job), &to, raw, &job_length);
	free(raw);
	trace->arg_count = split(args, args_length, impl->lists);
	trace->args = (const char *const *)impl->lists;
	trace->env_count = split(env, env_length, impl->lists + trace->arg_count);
	trace->env = (const char *const *)impl->lists + trace->arg_count;
	trace->source_count = split(source, source_length, impl->lists + trace->arg_count + trace->env_count);
	trace->source = trace->env + trace->env_count;
	trace->job = trace->source + trace->source_count;
	trace->job_count = split(job, job_length, impl->lists + (trace->job - (const char *const *)impl->lists));
}

bool tpa_trace_is(const char *file)
{
	char magic[sizeof(TPROF_MAGIC) - 1];
	struct tpa_part part;
	int fd = tpa_bundle_open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, &part);
	bool is;

	if (fd < 0)
		return false;
	is = tpa_tar_is(&part) || tpa_compact_is(&part) ||
	     (tpa_part_read(&part, magic, sizeof(magic), 0) == sizeof(magic) &&
	      memcmp(magic, TPROF_MAGIC, sizeof(magic)) == 0);
	close(fd);
	return is;
}

size_t tpa_trace_begin(const char *file, void *buffer, size_t size, uint64_t *bytes)
{
	struct tpa_part part;
	int fd = tpa_bundle_open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK, &part);
	size_t got = 0;

	*bytes = 0;
	if (fd < 0)
		return 0;
	if (tpa_compact_is(&part)) {
		got = tpa_compact_header(&part, buffer, size, bytes);
	} else {
		*bytes = part.bytes;
		got = tpa_part_read(&part, buffer, size, 0);
	}
	close(fd);
	return got;
}

bool tpa_trace_peek(const char *file, struct tprof_header *header)
{
	uint64_t bytes;

	memset(header, 0, sizeof(*header));
	return tpa_trace_begin(file, header, sizeof(*header), &bytes) >= offsetof(struct tprof_header, text) &&
	       memcmp(header->magic, TPROF_MAGIC, sizeof(header->magic)) == 0;
}

bool tpa_header_read(struct tpa_trace_impl *impl, char **error)
{
	size_t got = tpa_trace_bytes_at(impl, &impl->header, sizeof(impl->header), 0);

	if (!check_identity(impl, got, error))
		return false;
	check_sizes(impl);
	read_text(impl);
	return true;
}
