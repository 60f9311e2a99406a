/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "base/memory.h"

/* The kernel's vDSO has no file. This process's own vDSO is the same if the build-ids are equal. */
#define VDSO_MAX 65536

static Elf *vdso_elf(void)
{
	char *start = (char *)getauxval(AT_SYSINFO_EHDR); /* NOLINT(performance-no-int-to-ptr) */
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)start;
	size_t size;

	if (!start || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	return size > VDSO_MAX ? NULL : elf_memory(start, size);
}

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
	if (strstr(name, "vdso")) {
		*elf = vdso_elf();
		return -1;
	}
	/* by build-id alone, in the folders for debug files, or from debuginfod */
	return dwfl_build_id_find_elf(module, userdata, name, base, file, elf);
}

/* A trace may name any file; opening a FIFO would block forever. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

static bool same_build_id(Elf *elf, const struct tpa_module *module)
{
	const void *id = NULL;
	ssize_t length = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;

	/* if either side lacks a build-id, only the path can decide */
	if (length <= 0)
		return module->build_id_length == 0;
	if (!module->build_id_length)
		return true;
	return length == module->build_id_length && memcmp(id, module->build_id, (size_t)length) == 0;
}

/*
 * Opens `path` if it is an ELF file of the right build. Returns -1 otherwise; *state says why, unless it is merely
 * missing.
 */
static int open_checked(const char *path, const struct tpa_module *module, enum tpa_module_state *state)
{
	int fd = open_regular(path);
	Elf *elf;
	bool is_elf, same;

	if (fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR && *state == TPA_MODULE_MISSING)
			*state = TPA_MODULE_UNREADABLE;
		return -1;
	}
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is_elf = elf && elf_kind(elf) == ELF_K_ELF;
	same = is_elf && same_build_id(elf, module);
	elf_end(elf);
	if (same)
		return fd;
	close(fd);
	if (*state == TPA_MODULE_MISSING)
		*state = is_elf ? TPA_MODULE_REPLACED : TPA_MODULE_UNREADABLE;
	return -1;
}

void tpa_image_debug_path(const struct tpa_module *module, const char *folder, char *path, size_t size)
{
	int used;

	path[0] = '\0';
	if (module->build_id_length < 2)
		return;
	used = snprintf(path, size, "%s/.build-id/%02x/", folder, module->build_id[0]);
	for (size_t i = 1; i < module->build_id_length && used > 0 && (size_t)used + 16 < size; i++)
		used += snprintf(path + used, size - (size_t)used, "%02x", module->build_id[i]);
	if ((size_t)used < size)
		snprintf(path + used, size - (size_t)used, ".debug");
}

/* A file made with --only-keep-debug has the necessary program headers and symbols. */
static int open_by_build_id(const char *folder, const struct tpa_module *module)
{
	enum tpa_module_state ignored = TPA_MODULE_OK;
	char path[PATH_MAX];

	tpa_image_debug_path(module, folder, path, sizeof(path));
	return path[0] ? open_checked(path, module, &ignored) : -1;
}

/* Opens a file below --debug-dir, taken as a file system's root, or as a folder with all files. */
static int open_in_folder(const char *folder, const struct tpa_module *module)
{
	const char *name = strrchr(module->path, '/');
	enum tpa_module_state ignored = TPA_MODULE_OK;
	char path[PATH_MAX];
	int fd;

	if (!name || !module->build_id_length) /* without a build-id a file of that name can't be checked */
		return -1;
	snprintf(path, sizeof(path), "%s/%s", folder, module->path);
	fd = open_checked(path, module, &ignored);
	if (fd < 0) {
		snprintf(path, sizeof(path), "%s%s", folder, name);
		fd = open_checked(path, module, &ignored);
	}
	return fd;
}

int tpa_image_find(const struct tpa_module *module, const char *debug_dir, enum tpa_module_state *state)
{
	int fd;

	*state = TPA_MODULE_MISSING;
	if (module->path[0] != '/')
		return -1;
	fd = open_checked(module->path, module, state);
	if (fd >= 0)
		*state = TPA_MODULE_OK;
	if (fd < 0 && debug_dir)
		fd = open_in_folder(debug_dir, module);
	if (fd < 0 && debug_dir)
		fd = open_by_build_id(debug_dir, module);
	if (fd < 0)
		fd = open_by_build_id(TPA_SYSTEM_DEBUG, module);
	return fd;
}

/* No file was found: libdwfl may still get one by the build-id, and can find the vDSO. */
static void report_by_build_id(struct tpa_image *image, const struct tpa_module *module)
{
	bool vdso = strstr(module->path, "vdso") != NULL && module->path[0] != '/';
	GElf_Addr bias;

	if ((!module->build_id_length && !vdso) || module->start >= module->end)
		return;
	image->module = dwfl_report_module(image->dwfl, vdso ? "[vdso]" : module->path, module->start, module->end);
	if (image->module && module->build_id_length)
		dwfl_module_report_build_id(image->module, module->build_id, module->build_id_length, 0);
	dwfl_report_end(image->dwfl, NULL, NULL);
	if (image->module && !same_build_id(dwfl_module_getelf(image->module, &bias), module))
		image->module = NULL;
	if (image->module && vdso)
		image->state = TPA_MODULE_OK;
}

static void begin(struct tpa_image *image, const char *debug_dir)
{
	if (debug_dir) {
		char *absolute = realpath(debug_dir, NULL);

		/* empty element: the file's own folder */
		image->debug_path = tpa_format("%s::.debug:" TPA_SYSTEM_DEBUG, absolute ? absolute : debug_dir);
		free(absolute);
		image->callbacks.debuginfo_path = &image->debug_path;
	}
	image->callbacks.find_elf = find_elf;
	image->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
	image->dwfl = dwfl_begin(&image->callbacks);
	tpa_need(image->dwfl);
}

/*
 * libdwfl assumes that a program that is not position-independent lies at its link-time address, even if it was mapped
 * elsewhere.
 */
static uint64_t shift_of(const struct tpa_image *image, const struct tpa_module *module)
{
	GElf_Addr bias;
	GElf_Ehdr header;
	Elf *elf = dwfl_module_getelf(image->module, &bias);

	return elf && gelf_getehdr(elf, &header) && header.e_type == ET_EXEC ? module->bias - bias : 0;
}

static void open_image(struct tpa_image *image, const struct tpa_module *module, const char *debug_dir,
		       struct tpa_arena *arena)
{
	int fd;

	image->opened = true;
	image->bias = module->bias;
	elf_version(EV_CURRENT);
	begin(image, debug_dir);
	dwfl_report_begin(image->dwfl);
	fd = tpa_image_find(module, debug_dir, &image->state);
	if (fd >= 0) {
		image->module = dwfl_report_elf(image->dwfl, module->path, module->path, fd, module->bias, true);
		if (!image->module) {
			close(fd);
			image->state = TPA_MODULE_UNREADABLE;
		}
		dwfl_report_end(image->dwfl, NULL, NULL);
	} else {
		report_by_build_id(image, module);
	}
	if (!image->module)
		return;
	image->shift = shift_of(image, module);
	image->scopes = tpa_scopes_new(image->module, arena);
	tpa_symtab_load(&image->symtab, image->module);
}

uint64_t tpa_image_address(const struct tpa_image *image, const struct tpa_module *module, uint64_t address)
{
	return address - (module->bias - image->bias) - image->shift;
}

/* ---- open images ---- */

/* What two modules must share to use one image. */
struct key {
	char *path, *debug_dir; /* debug_dir may be NULL */
	uint8_t build_id[256];
	size_t build_id_length;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed; /* all 0: no such file */
};

struct entry {
	struct entry *next;
	struct key key;
	struct tpa_image image;
};

static struct entry *entries; /* lives until the program ends */
static struct tpa_arena *names;

static struct key key_of(const struct tpa_module *module, const char *debug_dir)
{
	struct key key = { .path = (char *)(uintptr_t)module->path, .debug_dir = (char *)(uintptr_t)debug_dir };
	struct stat status;

	key.build_id_length = module->build_id_length;
	if (module->build_id_length)
		memcpy(key.build_id, module->build_id, module->build_id_length);
	if (module->path[0] == '/' && stat(module->path, &status) == 0) {
		key.device = status.st_dev;
		key.inode = status.st_ino;
		key.size = status.st_size;
		key.changed = status.st_mtim;
	}
	return key;
}

static bool same(const struct key *a, const struct key *b)
{
	return a->build_id_length == b->build_id_length && memcmp(a->build_id, b->build_id, a->build_id_length) == 0 &&
	       a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec &&
	       strcmp(a->path, b->path) == 0 && !a->debug_dir == !b->debug_dir &&
	       (!a->debug_dir || strcmp(a->debug_dir, b->debug_dir) == 0);
}

struct tpa_image *tpa_image_known(const struct tpa_module *module, const char *debug_dir)
{
	struct key key = key_of(module, debug_dir);
	struct entry *entry = entries;

	/* an open may have failed because a damaged trace has a wrong load address: retry at another one */
	while (entry && !(same(&entry->key, &key) &&
			  (!entry->image.opened || entry->image.module || entry->image.bias == module->bias)))
		entry = entry->next;
	if (entry)
		return &entry->image;
	entry = tpa_zalloc(1, sizeof(*entry));
	entry->key = key;
	entry->key.path = tpa_strdup(key.path);
	entry->key.debug_dir = key.debug_dir ? tpa_strdup(key.debug_dir) : NULL;
	entry->next = entries;
	entries = entry;
	return &entry->image;
}

const struct tpa_image *tpa_image_of(const struct tpa_module *module, const char *debug_dir)
{
	struct tpa_image *image = tpa_image_known(module, debug_dir);

	if (!names)
		names = tpa_arena_new();
	if (!image->opened)
		open_image(image, module, debug_dir, names);
	return image;
}
