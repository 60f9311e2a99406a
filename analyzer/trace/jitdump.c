/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/jitdump.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/impl.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/pairs.h"

#define MAGIC 0x4a695444u
#define VERSION 1u
#define FLAG_TICKS 1u	    /* times are the processor's, not CLOCK_MONOTONIC's */
#define V8_MARK 0xdeadbeefu /* in the header's reserved word: V8 wrote it */
#define V8_BIAS 64u	    /* and counts lines' addresses from behind an ELF header in front of the code */
#define HEADER_BYTES 40u
#define RECORD_BYTES 16u
#define NAME_MAX_BYTES 4096u
#define LINES_MAX_BYTES (16u << 20) /* of one record */
#define CODE_MAX_BYTES (UINT64_C(1) << 30)

enum { CODE_LOAD = 0, CODE_MOVE = 1, CODE_DEBUG_INFO = 2, CODE_CLOSE = 3 };

struct header {
	uint32_t magic, version, total_size, elf_machine, reserved, pid;
	uint64_t time, flags;
};

struct record {
	uint32_t id, total_size;
	uint64_t time;
};

struct load {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

struct entry {
	uint64_t address;
	uint32_t line, column;
};

_Static_assert(sizeof(struct header) == HEADER_BYTES && sizeof(struct record) == RECORD_BYTES, "as in the file");
_Static_assert(sizeof(struct load) == 40 && sizeof(struct move) == 48 && sizeof(struct entry) == 16, "as in the file");

struct reader {
	struct tpa_jitdump *dump;
	const struct tpa_trace *trace;
	FILE *file;
	struct header header;
	uint8_t *bytes; /* of one record, behind its head; a NUL follows */
	size_t size, room;
	struct tpa_pairs
		numbered; /* the writer's number of code (high half, low half) -> its last place in codes[], + 1 */

	/* The lines of the code that is loaded next. */
	uint64_t lines_for;
	struct tpa_jit_line *lines;
	size_t line_count;
};

/* ---- memory ---- */

/* Keeps a block until tpa_jitdump_free(). */
static void *keep(struct tpa_jitdump *dump, void *block)
{
	*TPA_APPEND(dump->texts, dump->text_count, dump->text_room) = block;
	return block;
}

static const char *keep_text(struct tpa_jitdump *dump, const char *text)
{
	return keep(dump, tpa_strdup(text));
}

void tpa_jitdump_free(struct tpa_jitdump *dump)
{
	for (size_t i = 0; i < dump->text_count; i++)
		free(dump->texts[i]);
	free(dump->texts);
	free(dump->of_order);
	free(dump->codes);
}

/* ---- records ---- */

static uint64_t time_of(const struct reader *reader, uint64_t time)
{
	uint64_t start = reader->trace->header->start.mono_ns;

	if (reader->header.flags & FLAG_TICKS && reader->trace->header->clock == TPROF_CLOCK_TSC)
		return time >> reader->trace->header->tick_shift;
	return time > start ? tpa_trace_time(reader->trace, time - start) : 0;
}

/* False: no number is left. */
static bool add_code(struct reader *reader, struct tpa_jit_code code)
{
	struct tpa_jitdump *dump = reader->dump;

	if (dump->count >= UINT32_MAX - 1)
		return false;
	tpa_grow(&dump->codes, &dump->room, dump->count + 1, sizeof(code));
	code.order = dump->count;
	dump->codes[dump->count++] = code;
	tpa_pairs_set(&reader->numbered, code.index, 0, (uint32_t)dump->count);
	return true;
}

static bool is_range(uint64_t start, uint64_t size)
{
	return size && size <= CODE_MAX_BYTES && start + size > start;
}

/* Skips the machine code behind the name. */
static bool read_load(struct reader *reader, uint64_t time)
{
	struct load load;
	const char *name = (const char *)reader->bytes + sizeof(load);
	struct tpa_jit_code code;

	if (reader->size < sizeof(load))
		return true;
	memcpy(&load, reader->bytes, sizeof(load));
	if (!is_range(load.address, load.size))
		return true;
	code = (struct tpa_jit_code){ .start = load.address,
				      .end = load.address + load.size,
				      .time = time_of(reader, time),
				      .index = load.index,
				      .name = keep_text(reader->dump, name) };
	if (reader->lines_for == load.address && reader->lines &&
	    reader->lines[reader->line_count - 1].offset < load.size) {
		code.lines = reader->lines;
		code.line_count = reader->line_count;
	}
	reader->lines = NULL;
	return add_code(reader, code);
}

/* The code that was loaded last under a number. */
static const struct tpa_jit_code *code_numbered(const struct reader *reader, uint64_t index)
{
	uint32_t number = tpa_pairs_find(&reader->numbered, index, 0);

	return number ? &reader->dump->codes[number - 1] : NULL;
}

static bool read_move(struct reader *reader, uint64_t time)
{
	const struct tpa_jit_code *moved;
	struct tpa_jit_code code;
	struct move move;

	if (reader->size < sizeof(move))
		return true;
	memcpy(&move, reader->bytes, sizeof(move));
	moved = code_numbered(reader, move.index);
	if (!moved || !is_range(move.to, moved->end - moved->start))
		return true;
	code = *moved;
	code.end = move.to + (code.end - code.start);
	code.start = move.to;
	code.time = time_of(reader, time);
	return add_code(reader, code);
}

/* A file's name as the entry has it. NULL: it can't be one. */
static const char *file_of(const char *text)
{
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			return NULL;
	return text;
}

/* Reads the entry at *at. False: it and all that follows are malformed. */
static bool read_entry(struct reader *reader, size_t *at, uint64_t start, struct tpa_jit_line *line, const char *last)
{
	static const char same[] = "\xff"; /* as the entry before */
	struct entry entry;
	const char *file;

	if (reader->size - *at <= sizeof(entry))
		return false;
	memcpy(&entry, reader->bytes + *at, sizeof(entry));
	file = file_of((const char *)reader->bytes + *at + sizeof(entry));
	*at += sizeof(entry);
	line->offset = entry.address - start;
	if (!file || entry.address < start || line->offset > CODE_MAX_BYTES || entry.line > INT32_MAX)
		return false;
	*at += strlen(file) + 1;
	line->line = entry.line;
	line->file =
		strcmp(file, same) == 0 || (last && strcmp(file, last) == 0) ? last : keep_text(reader->dump, file);
	return line->file && *at <= reader->size;
}

/* Takes all lines of the record, or none if an entry is malformed. */
static void read_lines(struct reader *reader)
{
	uint64_t start, count, bias = reader->header.reserved == V8_MARK ? V8_BIAS : 0;
	struct tpa_jit_line *lines;
	size_t at = 16;

	reader->lines = NULL;
	if (reader->size < at)
		return;
	memcpy(&start, reader->bytes, sizeof(start));
	memcpy(&count, reader->bytes + sizeof(start), sizeof(count));
	if (!count || count > reader->size / sizeof(struct entry))
		return;
	lines = keep(reader->dump, tpa_zalloc(count, sizeof(*lines)));
	for (uint64_t i = 0; i < count; i++)
		if (!read_entry(reader, &at, start + bias, &lines[i], i ? lines[i - 1].file : NULL))
			return;
	TPA_SORT(lines, count, offset);
	reader->lines_for = start;
	reader->lines = lines;
	reader->line_count = count;
}

/* ---- the file ---- */

static bool fill(struct reader *reader, size_t size)
{
	tpa_grow(&reader->bytes, &reader->room, size + 1, 1);
	reader->size = fread(reader->bytes, 1, size, reader->file);
	reader->bytes[reader->size] = 0;
	return reader->size == size;
}

/* How many bytes of a record to read. */
static size_t wanted(uint32_t id, size_t size)
{
	size_t most = 0;

	if (id == CODE_LOAD)
		most = sizeof(struct load) + NAME_MAX_BYTES;
	else if (id == CODE_MOVE)
		most = sizeof(struct move);
	else if (id == CODE_DEBUG_INFO)
		most = size <= LINES_MAX_BYTES ? size : 0;
	return size < most ? size : most;
}

/* False: no record follows. */
static bool read_record(struct reader *reader)
{
	struct record record;
	size_t size, part;

	if (fread(&record, 1, sizeof(record), reader->file) != sizeof(record) || record.total_size < sizeof(record) ||
	    record.id == CODE_CLOSE)
		return false;
	size = record.total_size - sizeof(record);
	part = wanted(record.id, size);
	if (!fill(reader, part) || fseeko(reader->file, (off_t)(size - part), SEEK_CUR) != 0)
		return false;
	switch (record.id) {
	case CODE_LOAD:
		return read_load(reader, record.time);
	case CODE_MOVE:
		return read_move(reader, record.time);
	case CODE_DEBUG_INFO:
		read_lines(reader);
		return true;
	default: /* unwinding tables: frames are walked as they were recorded */
		return true;
	}
}

/* Opens the file, unless it was last written before the program began, which means that another process wrote it. */
static FILE *open_dump(const char *path, const struct tpa_trace *trace)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat status;
	FILE *file = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (uint64_t)status.st_mtim.tv_sec + 1 >= trace->header->start.unix_ns / 1000000000)
		file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

static bool read_header(struct reader *reader)
{
	struct header *header = &reader->header;

	return fread(header, 1, sizeof(*header), reader->file) == sizeof(*header) && header->magic == MAGIC &&
	       header->version == VERSION && header->total_size >= sizeof(*header) &&
	       fseeko(reader->file, (off_t)header->total_size, SEEK_SET) == 0;
}

bool tpa_jitdump_read(struct tpa_jitdump *dump, const char *path, const struct tpa_trace *trace)
{
	struct reader reader = { .dump = dump, .trace = trace, .file = open_dump(path, trace) };
	bool good = reader.file && read_header(&reader);

	while (good && read_record(&reader))
		;
	free(reader.bytes);
	tpa_pairs_free(&reader.numbered);
	if (reader.file)
		fclose(reader.file);
	return good;
}

/* ---- what stands where ---- */

static int by_start(const void *left, const void *right)
{
	const struct tpa_jit_code *a = left, *b = right;

	return TPA_UP(a->start, b->start) ?: TPA_UP(a->order, b->order);
}

void tpa_jitdump_sort(struct tpa_jitdump *dump)
{
	uint64_t limit = 0;

	if (dump->count)
		qsort(dump->codes, dump->count, sizeof(*dump->codes), by_start);
	dump->of_order = tpa_zalloc(dump->count, sizeof(*dump->of_order));
	for (size_t i = 0; i < dump->count; i++) {
		limit = dump->codes[i].end > limit ? dump->codes[i].end : limit;
		dump->codes[i].limit = limit;
		dump->of_order[dump->codes[i].order] = (uint32_t)i;
	}
}

/* Whether `a` came after `b`. */
static bool later(const struct tpa_jit_code *a, const struct tpa_jit_code *b)
{
	return a->time != b->time ? a->time > b->time : a->order > b->order;
}

struct tpa_jit_span tpa_jitdump_at(const struct tpa_jitdump *dump, uint64_t address, uint64_t time)
{
	const struct tpa_jit_code *at = NULL, *first = NULL;
	struct tpa_jit_span span = { NULL, 0, UINT64_MAX };
	size_t i = TPA_UP_TO(dump->codes, dump->count, start, address);

	while (i-- > 0 && address < dump->codes[i].limit) {
		const struct tpa_jit_code *code = &dump->codes[i];

		if (address >= code->end)
			continue;
		first = !first || later(first, code) ? code : first;
		if (code->time <= time)
			at = !at || later(code, at) ? code : at;
		else if (code->time < span.until)
			span.until = code->time;
	}
	if (!at && first) {
		span = tpa_jitdump_at(dump, address, first->time);
		span.from = 0;
		return span;
	}
	span.code = at;
	span.from = at == first ? 0 : at->time;
	return span;
}

const struct tpa_jit_line *tpa_jit_line_at(const struct tpa_jit_code *code, uint64_t address)
{
	const struct tpa_jit_line *found = NULL;

	for (size_t i = 0; i < code->line_count && code->lines[i].offset <= address - code->start; i++)
		found = &code->lines[i];
	return found;
}
