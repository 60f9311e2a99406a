/* SPDX-License-Identifier: Apache-2.0 */
#include "import/trace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tprof/format.h>

#include "base/memory.h"
#include "base/pairs.h"

#define START UINT64_C(1000000000) /* ticks of the start, which are nanoseconds */
#define EVENT_MOST 96u		   /* bytes of an event, but for its text */
#define TEXT_MOST 512u		   /* bytes of a mark */
#define FLAT 4096u		   /* bytes of a page in events */

struct chunk {
	struct tprof_chunk head; /* magic 0: not begun */
	uint8_t *bytes;		 /* records */
	size_t used;
};

struct module {
	char *path;
	uint64_t bias, start, end;
};

struct frame {
	uint32_t module;
	uint64_t pc;
};

struct tpa_trace_writer {
	FILE *file;
	struct chunk events, tables;
	uint64_t chunks; /* written, or begun */
	uint64_t now;	 /* ticks */
	uint64_t coded;	 /* coding state of the chunk of events */
	uint64_t address;
	uint32_t stack, delta;
	uint32_t expected; /* and of tables */
	struct module *modules;
	size_t module_count, module_room;
	struct frame *frames;
	size_t frame_count, frame_room;
	uint32_t nodes;
	uint64_t allocations, rss_peak;
	struct tpa_pairs frame_numbers, node_numbers; /* by place; by parent and frame */
	bool failed;
	int error; /* errno */
};

struct tpa_trace_writer *tpa_trace_writer_new(FILE *file)
{
	struct tpa_trace_writer *writer = tpa_zalloc(1, sizeof(*writer));
	static const char header[TPROF_HEADER_SIZE];

	writer->file = file;
	writer->now = START;
	writer->nodes = TPROF_NODE_FIRST;
	writer->events.bytes = tpa_zalloc(1, TPROF_CHUNK_SIZE);
	writer->tables.bytes = tpa_zalloc(1, TPROF_CHUNK_SIZE);
	writer->failed = fwrite(header, sizeof(header), 1, file) != 1;
	writer->error = errno;
	return writer;
}

void tpa_trace_writer_free(struct tpa_trace_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->module_count; i++)
		free(writer->modules[i].path);
	free(writer->modules);
	free(writer->frames);
	free(writer->events.bytes);
	free(writer->tables.bytes);
	tpa_pairs_free(&writer->frame_numbers);
	tpa_pairs_free(&writer->node_numbers);
	free(writer);
}

/* ---- bytes ---- */

static void put_byte(struct chunk *chunk, unsigned byte)
{
	chunk->bytes[chunk->used++] = (uint8_t)byte;
}

static void put(struct chunk *chunk, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		put_byte(chunk, (unsigned)(value & 127) | 128);
	put_byte(chunk, (unsigned)value);
}

/* `difference` modulo 2^64. */
static void put_signed(struct chunk *chunk, uint64_t difference)
{
	put(chunk, difference << 1 ^ (0 - (difference >> 63)));
}

static void put_text(struct chunk *chunk, const char *text, size_t length)
{
	memcpy(chunk->bytes + chunk->used, text, length);
	chunk->used += length;
}

/* ---- chunks ---- */

static void flush(struct tpa_trace_writer *writer, struct chunk *chunk)
{
	size_t room = TPROF_CHUNK_SIZE - sizeof(chunk->head);

	if (!chunk->head.magic)
		return;
	chunk->head.committed = chunk->used;
	memset(chunk->bytes + chunk->used, 0, room - chunk->used);
	if (!writer->failed && (fwrite(&chunk->head, sizeof(chunk->head), 1, writer->file) != 1 ||
				fwrite(chunk->bytes, room, 1, writer->file) != 1)) {
		writer->failed = true;
		writer->error = errno;
	}
	chunk->head.magic = 0;
}

/* The chunk with room for `length` bytes of records. */
static void make_room(struct tpa_trace_writer *writer, struct chunk *chunk, size_t length)
{
	bool events = chunk == &writer->events;

	if (chunk->head.magic && chunk->used + length <= TPROF_CHUNK_SIZE - sizeof(chunk->head))
		return;
	flush(writer, chunk);
	chunk->used = 0;
	chunk->head = (struct tprof_chunk){ .magic = TPROF_CHUNK_MAGIC,
					    .kind = events ? TPROF_CHUNK_EVENTS : TPROF_CHUNK_TABLES,
					    .thread = events,
					    .begin = { writer->now, writer->now, 0 } };
	writer->chunks++;
	if (!events) {
		writer->expected = 0;
		return;
	}
	writer->coded = writer->now;
	writer->address = 0;
	writer->stack = writer->delta = 0;
}

/* ---- tables ---- */

/* A record with a length: its body is put behind `used`, which end_body() closes. */
static size_t begin_body(struct tpa_trace_writer *writer, struct chunk *chunk, size_t most)
{
	make_room(writer, chunk, most + 16);
	return chunk->used;
}

static void end_body(struct chunk *chunk, size_t begin, unsigned type)
{
	size_t length = chunk->used - begin, head = 2;

	for (size_t rest = length; rest >= 128; rest >>= 7)
		head++;
	memmove(chunk->bytes + begin + head, chunk->bytes + begin, length);
	chunk->used = begin;
	put_byte(chunk, type << 2);
	put(chunk, length);
	chunk->used += length;
}

uint32_t tpa_write_module(struct tpa_trace_writer *writer, const char *path, uint64_t bias, uint64_t start,
			  uint64_t end)
{
	*TPA_APPEND(writer->modules, writer->module_count, writer->module_room) =
		(struct module){ tpa_strdup(path), bias, start, end };
	return (uint32_t)writer->module_count;
}

/* A frame lies behind its module's begin: the offset 0 stands for a frame that is not known. */
static void widen(struct module *module, uint64_t pc)
{
	bool empty = module->start == module->end;

	if (empty || pc <= module->start)
		module->start = pc - 1;
	if (empty || pc >= module->end)
		module->end = pc + 1;
}

/* Frames are written when the modules' begins are known. */
uint32_t tpa_write_frame(struct tpa_trace_writer *writer, uint32_t module, uint64_t pc)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&writer->frame_numbers, pc, module, &found);
	struct module *in = module ? &writer->modules[module - 1] : NULL;

	if (found)
		return *number;
	*TPA_APPEND(writer->frames, writer->frame_count, writer->frame_room) = (struct frame){ module, pc };
	*number = (uint32_t)writer->frame_count;
	if (in)
		widen(in, pc);
	return *number;
}

static void write_modules(struct tpa_trace_writer *writer)
{
	struct chunk *chunk = &writer->tables;

	for (size_t i = 0; i < writer->module_count; i++) {
		const struct module *module = &writer->modules[i];
		size_t length = strnlen(module->path, 4096), begin = begin_body(writer, chunk, length + 64);

		put(chunk, i + 1);
		put(chunk, module->bias);
		put(chunk, module->start);
		put(chunk, module->end);
		put(chunk, START);
		put_byte(chunk, 0); /* no build-id */
		put_text(chunk, module->path, length);
		end_body(chunk, begin, TPROF_TABLE_MODULE);
	}
}

static void write_frames(struct tpa_trace_writer *writer)
{
	struct chunk *chunk = &writer->tables;

	for (size_t i = 0; i < writer->frame_count; i++) {
		const struct frame *frame = &writer->frames[i];
		uint64_t start = frame->module ? writer->modules[frame->module - 1].start : 0;
		size_t begin = begin_body(writer, chunk, 64);

		put(chunk, i + 1);
		put(chunk, frame->module);
		put(chunk, frame->pc - start);
		put_byte(chunk, 0);
		end_body(chunk, begin, TPROF_TABLE_FRAME);
	}
}

uint32_t tpa_write_node(struct tpa_trace_writer *writer, uint32_t parent, uint32_t frame)
{
	struct chunk *chunk = &writer->tables;
	bool found;
	uint32_t *number = tpa_pairs_at(&writer->node_numbers, parent, frame, &found), node;

	if (found)
		return *number;
	node = *number = writer->nodes++;
	make_room(writer, chunk, 64);
	put_byte(chunk, TPROF_CLASS_NODES | 1u << 2);
	put_signed(chunk, (uint64_t)node - writer->expected);
	put(chunk, parent < TPROF_NODE_FIRST ? parent << 1 | 1 : (uint64_t)(node - parent) << 1);
	put(chunk, frame);
	writer->expected = node + 1;
	return node;
}

/* ---- events ---- */

void tpa_write_time(struct tpa_trace_writer *writer, uint64_t ns)
{
	uint64_t ticks = ns < UINT64_MAX / 4 ? START + ns : START + UINT64_MAX / 4;

	if (ticks > writer->now)
		writer->now = ticks;
}

uint64_t tpa_writer_time(const struct tpa_trace_writer *writer)
{
	return writer->now - START;
}

static void put_time(struct tpa_trace_writer *writer)
{
	put(&writer->events, writer->now - writer->coded);
	writer->coded = writer->now;
}

static void put_address(struct tpa_trace_writer *writer, uint64_t address)
{
	put_signed(&writer->events, address / 8 - writer->address);
	writer->address = address / 8;
}

static void put_stack(struct tpa_trace_writer *writer, uint32_t node)
{
	put_signed(&writer->events, (uint64_t)(int64_t)(int32_t)(node - writer->delta));
	writer->delta = writer->stack = node;
}

static void alloc_short(struct tpa_trace_writer *writer, uint64_t address, uint64_t size, uint32_t node)
{
	struct chunk *chunk = &writer->events;
	bool same = node == writer->stack;
	unsigned form = same ? TPROF_STACK_SAME : TPROF_STACK_DELTA;

	put_byte(chunk, TPROF_CLASS_ALLOC | TPROF_ALLOC_USABLE | form << TPROF_ALLOC_STACK_SHIFT);
	put_time(writer);
	put_address(writer, address);
	put(chunk, size);
	put(chunk, 0);
	if (!same)
		put_stack(writer, node);
}

void tpa_write_alloc(struct tpa_trace_writer *writer, uint64_t address, uint64_t size, uint32_t node)
{
	struct chunk *chunk = &writer->events;
	size_t begin;

	writer->allocations++;
	make_room(writer, chunk, EVENT_MOST);
	if (address % 8 == 0) {
		alloc_short(writer, address, size, node);
		return;
	}
	begin = chunk->used;
	put_time(writer);
	put(chunk, address);
	put(chunk, size);
	put(chunk, size);
	put_byte(chunk, TPROF_FN_MALLOC);
	put_byte(chunk, 0);
	put(chunk, node);
	end_body(chunk, begin, TPROF_EVENT_ALLOC);
}

void tpa_write_free(struct tpa_trace_writer *writer, uint64_t address)
{
	struct chunk *chunk = &writer->events;
	size_t begin;

	make_room(writer, chunk, EVENT_MOST);
	if (address % 8 == 0) {
		put_byte(chunk, TPROF_CLASS_FREE);
		put_time(writer);
		put_address(writer, address);
		return;
	}
	begin = chunk->used;
	put_time(writer);
	put(chunk, address);
	put_byte(chunk, TPROF_FN_FREE);
	end_body(chunk, begin, TPROF_EVENT_FREE);
}

void tpa_write_map(struct tpa_trace_writer *writer, uint64_t address, uint64_t bytes, uint32_t node)
{
	struct chunk *chunk = &writer->events;
	size_t begin = begin_body(writer, chunk, EVENT_MOST);

	put_time(writer);
	put(chunk, address / FLAT);
	put(chunk, bytes);
	put(chunk, 3);	  /* PROT_READ | PROT_WRITE */
	put(chunk, 0x22); /* MAP_PRIVATE | MAP_ANONYMOUS */
	put(chunk, node);
	end_body(chunk, begin, TPROF_EVENT_MAP);
}

void tpa_write_unmap(struct tpa_trace_writer *writer, uint64_t address, uint64_t bytes)
{
	struct chunk *chunk = &writer->events;
	size_t begin = begin_body(writer, chunk, EVENT_MOST);

	put_time(writer);
	put(chunk, address / FLAT);
	put(chunk, bytes);
	put(chunk, 0);
	end_body(chunk, begin, TPROF_EVENT_UNMAP);
}

void tpa_write_memory(struct tpa_trace_writer *writer, uint64_t resident, uint64_t virtual_size)
{
	struct chunk *chunk = &writer->events;
	size_t begin = begin_body(writer, chunk, EVENT_MOST);

	put_time(writer);
	put(chunk, resident / FLAT);
	put(chunk, virtual_size / FLAT);
	end_body(chunk, begin, TPROF_EVENT_MEMORY);
	if (resident > writer->rss_peak)
		writer->rss_peak = resident;
}

void tpa_write_mark(struct tpa_trace_writer *writer, const char *text)
{
	struct chunk *chunk = &writer->events;
	size_t begin = begin_body(writer, chunk, EVENT_MOST + TEXT_MOST);

	put_time(writer);
	put_text(chunk, text, strnlen(text, TEXT_MOST));
	end_body(chunk, begin, TPROF_EVENT_MARK);
}

uint64_t tpa_writer_allocations(const struct tpa_trace_writer *writer)
{
	return writer->allocations;
}

/* ---- the header ---- */

struct header {
	struct tprof_header fields;
	uint8_t text[TPROF_HEADER_SIZE - TPROF_TEXT_OFFSET];
	size_t used;
};

/* A text that does not fit is cut; a list at a text's end. */
static void add_text(struct header *header, enum tprof_text which, const char *text, size_t length)
{
	size_t room = sizeof(header->text) - header->used;

	if (length > room)
		length = room;
	if (length)
		memcpy(header->text + header->used, text, length);
	header->fields.text[which] =
		(struct tprof_span){ (uint32_t)(TPROF_TEXT_OFFSET + header->used), (uint32_t)length };
	header->used += length;
}

static struct tprof_moment moment(const struct tpa_trace_about *about, uint64_t ticks)
{
	return (struct tprof_moment){ ticks, ticks, about->start_ns ? about->start_ns + (ticks - START) : 0 };
}

static void fill(struct header *header, const struct tpa_trace_writer *writer, const struct tpa_trace_about *about)
{
	header->fields = (struct tprof_header){ .magic = TPROF_MAGIC,
						.version = TPROF_VERSION,
						.header_size = TPROF_HEADER_SIZE,
						.chunk_size = TPROF_CHUNK_SIZE,
						.page_size = FLAT,
						.pid = about->pid,
						.origin = TPROF_ORIGIN_FIRST,
						.clock = TPROF_CLOCK_MONOTONIC,
						.depth = about->depth,
						.start = moment(about, START),
						.chunks = writer->chunks,
						.threads = 1,
						.end = TPROF_END_UNKNOWN,
						.finish = moment(about, writer->now),
						.modules = (uint32_t)writer->module_count,
						.rss_peak = writer->rss_peak,
						.sample_bytes = about->sample_bytes,
						.machine = TPROF_MACHINE_X86_64 };
	add_text(header, TPROF_TEXT_SOURCE, about->source, about->source_length);
	add_text(header, TPROF_TEXT_EXE, about->exe, strlen(about->exe));
	if (about->args_length > sizeof(header->text) - header->used)
		header->fields.flags |= TPROF_FLAG_TEXT_CUT;
	add_text(header, TPROF_TEXT_ARGS, about->args, about->args_length);
}

bool tpa_trace_writer_end(struct tpa_trace_writer *writer, const struct tpa_trace_about *about)
{
	struct header *header = tpa_zalloc(1, sizeof(*header));
	bool good;

	write_modules(writer);
	write_frames(writer);
	flush(writer, &writer->tables);
	flush(writer, &writer->events);
	fill(header, writer, about);
	good = !writer->failed && fseek(writer->file, 0, SEEK_SET) == 0 &&
	       fwrite(&header->fields, sizeof(header->fields), 1, writer->file) == 1 &&
	       fseek(writer->file, TPROF_TEXT_OFFSET, SEEK_SET) == 0 &&
	       fwrite(header->text, sizeof(header->text), 1, writer->file) == 1 && fflush(writer->file) == 0;
	if (writer->failed)
		errno = writer->error;
	free(header);
	return good;
}
