/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/cfi.h"

#include <dwarf.h>
#include <stdlib.h>
#include <unistd.h>

#include <elfutils/libdw.h>

#include "base/memory.h"
#include "symbols/image.h"

#define RBP 6	    /* x86-64 psABI, figure 3.36 */
#define SAVED_RBP 8 /* bytes; the return address follows them */

struct tpa_cfi_file {
	int fd;
	uint64_t bias;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *eh, *debug; /* NULL: no such section */
};

struct tpa_cfi_file *tpa_cfi_open(const struct tpa_module *module)
{
	struct tpa_cfi_file *file = tpa_zalloc(1, sizeof(*file));
	enum tpa_module_state state;

	elf_version(EV_CURRENT);
	file->bias = module->bias;
	file->fd = tpa_image_find(module, NULL, &state);
	/* a separate debug file has no .eh_frame: it can't show the module's tables */
	if (file->fd >= 0 && state == TPA_MODULE_OK)
		file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf) {
		tpa_cfi_close(file);
		return NULL;
	}
	file->eh = dwarf_getcfi_elf(file->elf);
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	file->debug = file->dwarf ? dwarf_getcfi(file->dwarf) : NULL;
	return file;
}

/* Has the function set up its frame pointer? Then its frame begins above the saved rbp and the return address. */
static bool has_frame_pointer(Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t count;

	return dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 &&
	       ((ops->atom == DW_OP_breg0 + RBP && ops->number == SAVED_RBP + 8) ||
		(ops->atom == DW_OP_bregx && ops->number == RBP && ops->number2 == SAVED_RBP + 8));
}

static bool look_up(Dwarf_CFI *cfi, uint64_t address, struct tpa_cfi_place *place, enum tpa_cfi_kind kind)
{
	Dwarf_Frame *frame = NULL;

	if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
		return false;
	*place = (struct tpa_cfi_place){ .kind = kind, .has_frame_pointer = has_frame_pointer(frame) };
	free(frame);
	return true;
}

struct tpa_cfi_place tpa_cfi_at(const struct tpa_cfi_file *file, uint64_t address)
{
	struct tpa_cfi_place place = { .kind = file ? TPA_CFI_NONE : TPA_CFI_UNKNOWN };

	if (file && !look_up(file->eh, address - file->bias, &place, TPA_CFI_UNINDEXED))
		look_up(file->debug, address - file->bias, &place, TPA_CFI_DEBUG);
	return place;
}

void tpa_cfi_close(struct tpa_cfi_file *file)
{
	if (!file)
		return;
	if (file->eh)
		dwarf_cfi_end(file->eh);
	if (file->dwarf)
		dwarf_end(file->dwarf);
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}
