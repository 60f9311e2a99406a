/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/mapped.h"

#include "core/assert.h"
#include "core/private_fds.h"
#include "core/maps.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/tables.h"
#include "core/text.h"
#include "core/thread.h"
#include "stacks/frame_table.h"

#include <elf.h>
#include <link.h>

#define MAPPED_MAX 64
#define FILES_MAX 64
#define ID_MAX 64
#define HEADERS_MAX 64
#define NOTES_MAX 1024

enum { FREE, TAKEN, THERE };

struct mapped {
	tpc_shared_u32 state;  /* THERE is stored last, and removed first */
	tpc_shared_u32 number; /* in this process's trace; 0: not yet */
	uintptr_t start, end;
	uint64_t bias;
	uint32_t build_id_length;
	uint8_t build_id[ID_MAX];
};

static struct mapped all[MAPPED_MAX];
tpc_shared_u32 tpc_mapped_count;

/* A file that was mapped without execute permission. */
struct file {
	tpc_shared_u32 version; /* odd while the rest is being written */
	uintptr_t start, end;
	uint64_t offset;
};

static struct file files[FILES_MAX]; /* the latest ones */
static tpc_shared_u32 file_count;    /* that were ever added */

/* ---- what the file says ---- */

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return tpc_sys_pread(fd, to, size, offset) == (long)size;
}

static void read_build_id(struct mapped *mapped, int fd, const ElfW(Phdr) * header)
{
	char notes[NOTES_MAX] = { 0 };
	size_t size = header->p_filesz < sizeof(notes) ? header->p_filesz : sizeof(notes), at = 0;

	if (!read_at(fd, notes, size, header->p_offset))
		return;
	while (at + sizeof(ElfW(Nhdr)) + 4 <= size) {
		const ElfW(Nhdr) *note = (const void *)(notes + at);
		size_t text = at + sizeof(*note) + tpc_round_up(note->n_namesz, 4);

		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz <= ID_MAX &&
		    text + note->n_descsz <= size && memcmp(note + 1, "GNU", 4) == 0) {
			memcpy(mapped->build_id, notes + text, note->n_descsz);
			mapped->build_id_length = note->n_descsz;
			return;
		}
		at = text + tpc_round_up(note->n_descsz, 4);
	}
}

/*
 * Is it a file that can be read later? Memory that a compiler maps twice, to write and to execute it, is not: its names
 * are those that the compiler tells (trace/jit.h).
 */
static bool is_lasting(int fd)
{
	char link[32], path[TPC_TABLE_TEXT_MAX];
	struct tpc_text text = tpc_text_in(link, sizeof(link));
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;
	long length;

	tpc_text_add(&text, "/proc/self/fd/");
	tpc_text_add_number(&text, (uint64_t)fd);
	length = tpc_sys_readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = 0;
	return strncmp(path, "/memfd:", 7) != 0 && strncmp(path, "/dev/", 5) != 0 &&
	       !tpc_text_glob("jit-*.dump", tpc_text_base(path)) &&
	       ((size_t)length < tail || strcmp(path + length - tail, deleted) != 0);
}

/* False: it contains no code. In a file that is not ELF, addresses are offsets. */
static bool read_file(struct mapped *mapped, int fd, uint64_t offset)
{
	ElfW(Ehdr) image;
	ElfW(Phdr) headers[HEADERS_MAX];
	bool found = false;

	if (!read_at(fd, &image, sizeof(image), 0) || memcmp(image.e_ident, ELFMAG, SELFMAG) != 0) {
		mapped->bias = mapped->start - offset;
		return is_lasting(fd);
	}
	if (image.e_ident[EI_CLASS] != ELFCLASS64 || image.e_phentsize != sizeof(headers[0]) ||
	    image.e_phnum > HEADERS_MAX || !read_at(fd, headers, image.e_phnum * sizeof(headers[0]), image.e_phoff))
		return false;
	for (size_t i = 0; i < image.e_phnum; i++) {
		const ElfW(Phdr) *header = &headers[i];

		if (header->p_type == PT_LOAD && header->p_flags & PF_X &&
		    offset >= (header->p_offset & ~(uint64_t)(TPC_PAGE - 1)) &&
		    offset < header->p_offset + header->p_filesz) {
			mapped->bias = mapped->start - (header->p_vaddr + offset - header->p_offset);
			found = true;
		}
		if (header->p_type == PT_NOTE && !mapped->build_id_length)
			read_build_id(mapped, fd, header);
	}
	return found;
}

/* ---- the ranges ---- */

/* What was worked out for these addresses is no longer valid. */
static void renew(uintptr_t start, uintptr_t end)
{
	tpc_frames_purge(start, end);
	tpc_frames_doubt();
}

static void add(struct mapped *made)
{
	tpc_unshared(made->state) = TAKEN;
	for (size_t i = 0; i < MAPPED_MAX; i++) {
		struct mapped *mapped = &all[i];

		if (tpc_load(&mapped->state) != FREE || !tpc_swap_if(&mapped->state, (uint32_t)FREE, (uint32_t)TAKEN))
			continue;
		*mapped = *made;
		tpc_store_release(&mapped->state, (uint32_t)THERE); /* pairs with tpc_mapped_find() */
		tpc_add(&tpc_mapped_count, 1);
		renew(made->start, made->end);
		return;
	}
}

void tpc_mapped_add(uintptr_t start, uintptr_t end, int fd, uint64_t offset)
{
	struct mapped made = { .start = start, .end = end };

	if (read_file(&made, fd, offset))
		add(&made);
}

void tpc_mapped_remove(uintptr_t start, uintptr_t end)
{
	for (size_t i = 0; i < MAPPED_MAX; i++) {
		struct mapped *mapped = &all[i];

		if (tpc_load_acquire(&mapped->state) != THERE || mapped->start >= end || mapped->end <= start ||
		    !tpc_swap_if(&mapped->state, (uint32_t)THERE, (uint32_t)TAKEN))
			continue;
		if (tpc_load(&mapped->number))
			tpc_table_unload(tpc_load(&mapped->number));
		renew(mapped->start, mapped->end);
		tpc_assert(tpc_load(&tpc_mapped_count) > 0);
		tpc_add(&tpc_mapped_count, -1u);
		tpc_store_release(&mapped->state, (uint32_t)FREE);
	}
}

/* ---- files that may become code ---- */

void tpc_mapped_file(uintptr_t start, uintptr_t end, uint64_t offset)
{
	struct file *file = &files[tpc_add(&file_count, 1) % FILES_MAX];
	uint32_t version = tpc_load(&file->version);

	if (version & 1 || !tpc_swap_if(&file->version, version, version + 1))
		return;
	tpc_store(&file->start, start);
	tpc_store(&file->end, end);
	tpc_store(&file->offset, offset);
	tpc_store_release(&file->version, version + 2); /* pairs with read_mapping() */
}

static bool read_mapping(const struct file *file, struct file *copy)
{
	uint32_t version = tpc_load_acquire(&file->version);

	copy->start = tpc_load(&file->start);
	copy->end = tpc_load(&file->end);
	copy->offset = tpc_load(&file->offset);
	__atomic_thread_fence(
		__ATOMIC_ACQUIRE); /* pairs with tpc_mapped_file()'s swap: new content has a new version */
	return !(version & 1) && tpc_load(&file->version) == version;
}

static bool is_known(uintptr_t start)
{
	for (size_t i = 0; i < MAPPED_MAX; i++)
		if (tpc_load_acquire(&all[i].state) == THERE && start >= all[i].start && start < all[i].end)
			return true;
	return false;
}

struct reading {
	struct mapped made;
	const char *path;
	uint64_t offset;
	bool is_code;
};

static void read_by_path(void *context)
{
	struct reading *reading = context;
	int fd = tpc_sys_open(reading->path, O_RDONLY, 0);

	if (fd < 0)
		return;
	reading->is_code = read_file(&reading->made, fd, reading->offset);
	tpc_sys_close(fd);
}

/* Opens it by its path, because its descriptor was closed long ago. The range may have been unmapped and reused by now. */
static void add_file(uintptr_t start, uintptr_t end, uint64_t offset)
{
	struct reading reading = { .made = { .start = start, .end = end }, .offset = offset };

	if (!tpc_maps_find(start, tpc_self->scratch, sizeof(tpc_self->scratch), &reading.path).high || !*reading.path)
		return;
	tpc_private_fds_from_threads(read_by_path, &reading);
	if (reading.is_code)
		add(&reading.made);
}

bool tpc_mapped_is_file(uintptr_t start, uintptr_t end)
{
	struct file file;

	for (size_t i = 0; tpc_load(&file_count) && i < FILES_MAX; i++)
		if (read_mapping(&files[i], &file) && file.start < end && file.end > start)
			return true;
	return false;
}

void tpc_mapped_runs(uintptr_t start, uintptr_t end)
{
	uint32_t count = tpc_load(&file_count);
	struct file file;

	for (uint32_t i = 1; i <= FILES_MAX; i++) {
		uintptr_t low, high;

		if (!read_mapping(&files[(count - i) % FILES_MAX], &file) || file.start >= end || file.end <= start)
			continue;
		low = start > file.start ? start : file.start;
		high = end < file.end ? end : file.end;
		if (!is_known(low))
			add_file(low, high, file.offset + (low - file.start));
		return; /* the latest one is what is mapped */
	}
}

/* The kernel knows the file's path. If two threads number it, one number counts. */
static uint32_t write_down(struct mapped *mapped)
{
	struct tpc_module_record record = { .module = tpc_add(&tpc_header->modules, 1) + 1,
					    .bias = mapped->bias,
					    .start = mapped->start,
					    .end = mapped->end,
					    .build_id = mapped->build_id,
					    .build_id_length = mapped->build_id_length };

	if (!tpc_maps_find(mapped->start, tpc_self->scratch, sizeof(tpc_self->scratch), &record.path).high)
		record.path = "";
	tpc_table_module(&record);
	tpc_swap_if(&mapped->number, 0u, record.module);
	return tpc_load(&mapped->number);
}

uint32_t tpc_mapped_find(uintptr_t pc, uintptr_t *start)
{
	for (size_t i = 0; tpc_load(&tpc_mapped_count) && i < MAPPED_MAX; i++) {
		struct mapped *mapped = &all[i];

		if (tpc_load_acquire(&mapped->state) != THERE || pc < mapped->start || pc >= mapped->end)
			continue;
		*start = mapped->start;
		return tpc_load(&mapped->number) ? tpc_load(&mapped->number) : write_down(mapped);
	}
	return 0;
}

void tpc_mapped_forget(void)
{
	for (size_t i = 0; i < MAPPED_MAX; i++) {
		if (tpc_unshared(all[i].state) == TAKEN) /* another thread of the parent was changing it */
			tpc_unshared(all[i].state) = FREE;
		tpc_unshared(all[i].number) = 0;
	}
	for (size_t i = 0; i < FILES_MAX; i++)
		if (tpc_unshared(files[i].version) & 1)
			files[i] = (struct file){ .version = { tpc_unshared(files[i].version) + 1 } };
}
