/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/witness.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <elfutils/libdwelf.h>

#include "base/memory.h"

struct tpa_file_identity tpa_file_identity(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return (struct tpa_file_identity){ 0 };
	return (struct tpa_file_identity){ status.st_dev, status.st_ino, (uint64_t)status.st_size,
					   (uint64_t)status.st_mtim.tv_sec * 1000000000u +
						   (uint64_t)status.st_mtim.tv_nsec };
}

static bool same(const struct tpa_file_identity *a, const struct tpa_file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size && a->changed_ns == b->changed_ns;
}

static void add(struct tpa_witnesses *witnesses, const char *path)
{
	if (path && path[0])
		*TPA_APPEND(witnesses->list, witnesses->count, witnesses->room) =
			(struct tpa_witness){ tpa_strdup(path), tpa_file_identity(path) };
}

/* A file of this name below a folder for debug files: under the module's whole path, or under the end of it. */
static void add_below(struct tpa_witnesses *witnesses, const char *folder, const char *file, const char *name)
{
	char path[PATH_MAX];
	const char *end = strrchr(file, '/');

	for (const char *from = file; from <= end; from = strchr(from + 1, '/')) {
		snprintf(path, sizeof(path), "%s%.*s/%s", folder, (int)(end - from), from, name);
		add(witnesses, path);
		if (from == end)
			break;
	}
}

/* Where a debug file of this name would be found. */
static void add_named(struct tpa_witnesses *witnesses, const char *debug_dir, const char *file, const char *name)
{
	char path[PATH_MAX];
	int folder = (int)(strrchr(file, '/') - file);

	snprintf(path, sizeof(path), "%.*s/%s", folder, file, name);
	add(witnesses, path);
	snprintf(path, sizeof(path), "%.*s/.debug/%s", folder, file, name);
	add(witnesses, path);
	add_below(witnesses, TPA_SYSTEM_DEBUG, file, name);
	if (debug_dir)
		add_below(witnesses, debug_dir, file, name);
}

/* The module has no DWARF: it would if one of these files were there. */
static void add_links(struct tpa_witnesses *witnesses, const char *debug_dir, const struct tpa_image *image,
		      const char *file)
{
	GElf_Addr bias;
	GElf_Word crc;
	Elf *elf = dwfl_module_getelf(image->module, &bias);
	const char *link = elf ? dwelf_elf_gnu_debuglink(elf, &crc) : NULL;
	char *name = tpa_format("%s.debug", strrchr(file, '/') + 1);

	if (link && !strchr(link, '/'))
		add_named(witnesses, debug_dir, file, link);
	add_named(witnesses, debug_dir, file, name);
	free(name);
}

/* The file with what several debug files have in common (dwz). */
static void add_common(struct tpa_witnesses *witnesses, const struct tpa_image *image, const char *file)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(image->module, &bias);
	const char *name = NULL;
	const void *id;
	char path[PATH_MAX];

	if (!dwarf || dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) <= 0 || !name)
		return;
	snprintf(path, sizeof(path), "%.*s/%s", name[0] == '/' ? 0 : (int)(strrchr(file, '/') - file), file, name);
	add(witnesses, name[0] == '/' ? name : path);
}

static void add_candidates(struct tpa_witnesses *witnesses, const struct tpa_module *module, const char *debug_dir)
{
	char path[PATH_MAX];

	add(witnesses, module->path);
	tpa_image_debug_path(module, TPA_SYSTEM_DEBUG, path, sizeof(path));
	add(witnesses, path);
	if (!debug_dir)
		return;
	tpa_image_debug_path(module, debug_dir, path, sizeof(path));
	add(witnesses, path);
	snprintf(path, sizeof(path), "%s/%s", debug_dir, module->path);
	add(witnesses, path);
	snprintf(path, sizeof(path), "%s%s", debug_dir, strrchr(module->path, '/'));
	add(witnesses, path);
}

bool tpa_witnesses_find(struct tpa_witnesses *witnesses, const struct tpa_image *image, const struct tpa_module *module,
			const char *debug_dir)
{
	const char *main = NULL, *debug = NULL, *servers = getenv("DEBUGINFOD_URLS");

	if (!image->module || module->path[0] != '/' || (image->scopes && tpa_scopes_are_split(image->scopes)) ||
	    (!image->scopes && servers && servers[0]))
		return false;
	add_candidates(witnesses, module, debug_dir);
	dwfl_module_info(image->module, NULL, NULL, NULL, NULL, NULL, &main, &debug);
	main = main && main[0] == '/' ? main : module->path;
	add(witnesses, main);
	if (debug && debug[0] == '/')
		add(witnesses, debug);
	if (image->scopes)
		add_common(witnesses, image, debug && debug[0] == '/' ? debug : main);
	else
		add_links(witnesses, debug_dir, image, main);
	return true;
}

bool tpa_witnesses_hold(const struct tpa_witnesses *witnesses)
{
	for (size_t i = 0; i < witnesses->count; i++) {
		struct tpa_file_identity now = tpa_file_identity(witnesses->list[i].path);

		if (!same(&now, &witnesses->list[i].file))
			return false;
	}
	return true;
}

void tpa_witnesses_free(struct tpa_witnesses *witnesses)
{
	for (size_t i = 0; i < witnesses->count; i++)
		free(witnesses->list[i].path);
	free(witnesses->list);
	*witnesses = (struct tpa_witnesses){ NULL };
}
