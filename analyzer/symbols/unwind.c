/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/unwind.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>

#define PAGE 4096u
#define MODULE_MAX (UINT64_C(64) << 20)
#define FRAMES_MAX 64

/* Register numbers of the x86-64 psABI, 3.6.2. */
enum { RSP = 7, RETURN_ADDRESS = 16, REGISTERS = 17 };
static const uint8_t kept[TPROF_KEPT] = { 3, 6, 12, 13, 14, 15 }; /* rbx rbp r12 r13 r14 r15 */

struct unwinding {
	uint64_t registers[REGISTERS]; /* of the registers that calls don't preserve, only these two are known */
	uint64_t bias;
	Dwarf_CFI *cfi;
	tpa_unwind_read *read;
	void *context;
};

/* ---- the module ---- */

/* Adapts ELF headers to the image in memory: segments lie at their addresses, and there are no section headers. */
static bool adapt(char *image, size_t size, uint64_t *first)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)image;
	Elf64_Phdr *segments;

	if (size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phoff > size ||
	    header->e_phentsize != sizeof(*segments) || header->e_phoff % 8 ||
	    header->e_phnum > (size - header->e_phoff) / sizeof(*segments))
		return false;
	segments = (Elf64_Phdr *)(void *)(image + header->e_phoff);
	*first = UINT64_MAX;
	for (int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr < *first)
			*first = segments[i].p_vaddr;
	*first &= ~(uint64_t)(PAGE - 1);
	for (int i = 0; i < header->e_phnum; i++) {
		segments[i].p_offset = segments[i].p_vaddr - *first;
		segments[i].p_filesz = segments[i].p_memsz;
	}
	header->e_shoff = 0;
	header->e_shnum = header->e_shstrndx = 0;
	return *first != UINT64_MAX;
}

/* Returns NULL if the module can't be read or is no ELF image. Gaps between segments may be unmapped. */
static char *read_module(const struct unwinding *unwinding, const struct tprof_range *module)
{
	size_t size = (size_t)(module->high - module->low);
	char *image = module->high > module->low && size <= MODULE_MAX ? calloc(1, size) : NULL;

	for (size_t at = 0; image && at < size; at += PAGE)
		unwinding->read(unwinding->context, module->low + at, image + at, size - at < PAGE ? size - at : PAGE);
	return image;
}

/* ---- one frame ---- */

static bool add_register(const struct unwinding *unwinding, uint64_t number, uint64_t offset, uint64_t *value)
{
	*value = number < REGISTERS ? unwinding->registers[number] + offset : 0;
	return number < REGISTERS;
}

/* Evaluates one operation of the kinds that gcc and the assembler emit: a register plus an offset, or a memory read. */
static bool operate(const struct unwinding *unwinding, const Dwarf_Op *op, uint64_t cfa, uint64_t *value)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return add_register(unwinding, op->atom - (unsigned)DW_OP_breg0, op->number, value);
	switch (op->atom) {
	case DW_OP_bregx:
		return add_register(unwinding, op->number, op->number2, value);
	case DW_OP_call_frame_cfa:
		*value = cfa;
		return true;
	case DW_OP_plus_uconst:
		*value += op->number;
		return true;
	case DW_OP_deref:
		return unwinding->read(unwinding->context, *value, value, sizeof(*value));
	default:
		return false;
	}
}

static bool evaluate(const struct unwinding *unwinding, const Dwarf_Op *ops, size_t count, uint64_t cfa,
		     uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < count; i++)
		if (!operate(unwinding, &ops[i], cfa, value))
			return false;
	return count > 0;
}

static bool get_cfa(const struct unwinding *unwinding, Dwarf_Frame *frame, uint64_t *cfa)
{
	Dwarf_Op *ops;
	size_t count;

	return dwarf_frame_cfa(frame, &ops, &count) == 0 && evaluate(unwinding, ops, count, 0, cfa);
}

/*
 * The caller's value of a register: still in it, or saved in the frame. A call-preserved register that the tables
 * don't mention is unchanged; libdw reports that for all but rbx.
 */
static bool get_register(const struct unwinding *unwinding, Dwarf_Frame *frame, uint64_t cfa, int number,
			 uint64_t *value)
{
	Dwarf_Op memory[3], *ops;
	uint64_t place;
	size_t count;

	if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
		return false;
	*value = unwinding->registers[number];
	if (count == 0)
		return number != RETURN_ADDRESS;
	return evaluate(unwinding, ops, count, cfa, &place) &&
	       unwinding->read(unwinding->context, place, value, sizeof(*value));
}

static bool step(struct unwinding *unwinding, bool innermost)
{
	uint64_t before = unwinding->registers[RETURN_ADDRESS] - unwinding->bias - !innermost, cfa = 0;
	uint64_t after[REGISTERS] = { 0 };
	Dwarf_Frame *frame = NULL;
	bool good;

	if (dwarf_cfi_addrframe(unwinding->cfi, before, &frame) != 0)
		return false;
	good = get_cfa(unwinding, frame, &cfa) && cfa > unwinding->registers[RSP] &&
	       get_register(unwinding, frame, cfa, RETURN_ADDRESS, &after[RETURN_ADDRESS]);
	for (size_t i = 0; good && i < TPROF_KEPT; i++)
		good = get_register(unwinding, frame, cfa, kept[i], &after[kept[i]]);
	after[RSP] = cfa;
	memcpy(unwinding->registers, after, sizeof(after));
	free(frame);
	return good;
}

/* ---- all frames ---- */

static bool steps_out(struct unwinding *unwinding, const struct tprof_range *module)
{
	const uint64_t *pc = &unwinding->registers[RETURN_ADDRESS];
	int frames = 0;

	while (*pc - module->low < module->high - module->low)
		if (frames == FRAMES_MAX || !step(unwinding, frames++ == 0))
			return false;
	return frames > 0;
}

static bool unwinds(struct unwinding *unwinding, char *image, const struct tprof_range *module)
{
	size_t size = (size_t)(module->high - module->low);
	uint64_t first;
	bool good;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = adapt(image, size, &first) ? elf_memory(image, size) : NULL;
	unwinding->cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	unwinding->bias = module->low - first;
	good = unwinding->cfi && steps_out(unwinding, module);
	if (unwinding->cfi)
		dwarf_cfi_end(unwinding->cfi);
	if (elf)
		elf_end(elf);
	return good;
}

bool tpa_unwind_out(struct tprof_registers *at, const struct tprof_range *module, tpa_unwind_read *read, void *context)
{
	struct unwinding unwinding = { .read = read, .context = context };
	char *image = read_module(&unwinding, module);
	bool good;

	unwinding.registers[RETURN_ADDRESS] = at->pc;
	unwinding.registers[RSP] = at->sp;
	for (size_t i = 0; i < TPROF_KEPT; i++)
		unwinding.registers[kept[i]] = at->kept[i];
	good = image && unwinds(&unwinding, image, module);
	free(image);
	if (!good)
		return false;
	at->pc = unwinding.registers[RETURN_ADDRESS];
	at->sp = unwinding.registers[RSP];
	for (size_t i = 0; i < TPROF_KEPT; i++)
		at->kept[i] = unwinding.registers[kept[i]];
	return true;
}
