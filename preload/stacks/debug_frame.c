/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/debug_frame.h"

#include "core/private_fds.h"
#include "core/space.h"
#include "core/sys.h"
#include "stacks/debug_separate.h"

#define LEAST_FDE 24u /* bytes: its length, its CIE's place, a start and a length of code */

const struct tpc_debug_frame tpc_debug_frame_none = { .count = 0 };

static size_t bytes_of(const struct tpc_debug_frame *frame)
{
	return sizeof(*frame) + frame->room * sizeof(frame->index[0]) + frame->section.size;
}

static struct tpc_debug_frame *make(const struct tpc_debug_module *module, uint64_t size)
{
	struct tpc_debug_frame of = { .room = (uint32_t)(size / LEAST_FDE), .section.size = (uint32_t)size };
	struct tpc_debug_frame *made = tpc_space_take(bytes_of(&of));

	if (!made)
		return NULL;
	made->section =
		(struct tpc_debug_section){ (const uint8_t *)&made->index[of.room], of.section.size, module->bias };
	made->base = module->start;
	made->room = of.room;
	return made;
}

/* ---- the index ---- */

/* Bytes of the record at `at`, its length included. */
static uint64_t record_bytes(const uint8_t *at, uint64_t left)
{
	uint64_t length = 0;
	uint32_t first;

	memcpy(&first, at, sizeof(first));
	if (first != UINT32_MAX)
		return sizeof(first) + first;
	if (left < sizeof(first) + sizeof(length))
		return left;
	memcpy(&length, at + sizeof(first), sizeof(length)); /* of 64-bit DWARF */
	return length < left ? sizeof(first) + sizeof(length) + length : left;
}

/* Of code that the linker left out, FDEs remain, with addresses that are 0 in the file or lie in no module. */
static bool is_there(const struct tpc_debug_module *module, struct tpc_range code)
{
	return code.low != module->bias && code.low >= module->start && code.high <= module->end &&
	       code.low < code.high && code.low - module->start <= UINT32_MAX;
}

static void list(struct tpc_debug_frame *frame, const struct tpc_debug_module *module)
{
	const uint8_t *start = frame->section.start;
	uint64_t size = frame->section.size;

	for (uint64_t at = 0; size - at >= sizeof(uint32_t) && frame->count < frame->room;) {
		struct tpc_cfi cfi = { .location = 0 };
		struct tpc_fde fde;

		if (tpc_fde_read(start + at, &frame->section, &cfi, &fde) && is_there(module, fde.code))
			frame->index[frame->count++] = (uint64_t)(fde.code.low - module->start) << 32 | at;
		at += record_bytes(start + at, size - at);
		if (at > size)
			return;
	}
}

static void sink(uint64_t *heap, uint32_t count, uint32_t at)
{
	uint64_t entry = heap[at];

	for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= entry)
			break;
		heap[at] = heap[child];
	}
	heap[at] = entry;
}

/* Heapsort (Knuth, TAOCP 5.2.3): it needs no further memory. libc's qsort() may allocate. */
static void sort(uint64_t *entries, uint32_t count)
{
	for (uint32_t i = count / 2; i-- > 0;)
		sink(entries, count, i);
	while (count > 1) {
		uint64_t largest = entries[0];

		entries[0] = entries[--count];
		entries[count] = largest;
		sink(entries, count, 0);
	}
}

static bool is_sorted(const struct tpc_debug_frame *frame)
{
	for (uint32_t i = 1; i < frame->count; i++)
		if (frame->index[i - 1] > frame->index[i])
			return false;
	return true;
}

const uint8_t *tpc_debug_frame_find(const struct tpc_debug_frame *in, uintptr_t pc)
{
	uint32_t low = 0, high = in->count;

	while (low < high) { /* the last entry that starts at or before pc */
		uint32_t middle = low + (high - low) / 2;

		if (in->base + (in->index[middle] >> 32) <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? in->section.start + (uint32_t)in->index[low - 1] : NULL;
}

/* ---- reading ---- */

struct reading {
	const struct tpc_debug_module *module;
	struct tpc_debug_frame *made;
};

/* False: the file has no such section. */
static bool read_section(int fd, struct reading *reading)
{
	struct tpc_debug_place place = { 0, 0 };

	if (!tpc_debug_file_find(fd, &place))
		return false;
	reading->made = make(reading->module, place.size);
	if (reading->made && !tpc_debug_file_read(fd, (void *)(uintptr_t)reading->made->section.start, place)) {
		tpc_debug_frame_give_back(reading->made);
		reading->made = NULL;
	}
	return true;
}

static void read_file(void *context)
{
	struct reading *reading = context;
	int fd = tpc_sys_open(reading->module->path, O_RDONLY, 0);

	if (fd < 0)
		return;
	if (tpc_debug_file_is(fd, reading->module) && !read_section(fd, reading)) {
		int separate = tpc_debug_separate_open(fd, reading->module->path);

		if (separate >= 0) {
			read_section(separate, reading);
			tpc_sys_close(separate);
		}
	}
	tpc_sys_close(fd);
}

const struct tpc_debug_frame *tpc_debug_frame_read(const struct tpc_debug_module *module)
{
	struct reading reading = { .module = module };

	if (module->path[0] == '/') /* the vDSO's is no path */
		tpc_private_fds_from_threads(read_file, &reading);
	if (!reading.made)
		return &tpc_debug_frame_none;
	list(reading.made, module);
	if (!is_sorted(reading.made)) /* mostly it is: linkers keep the order of code and tables */
		sort(reading.made->index, reading.made->count);
	return reading.made;
}

void tpc_debug_frame_give_back(const struct tpc_debug_frame *frame)
{
	if (frame && frame != &tpc_debug_frame_none)
		tpc_space_give_back((void *)(uintptr_t)frame, bytes_of(frame));
}

void tpc_debug_frame_retire(const struct tpc_debug_frame *frame)
{
	if (frame && frame != &tpc_debug_frame_none)
		tpc_space_retire((void *)(uintptr_t)frame, bytes_of(frame), sizeof(*frame));
}
