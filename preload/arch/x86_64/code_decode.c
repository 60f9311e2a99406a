/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/x86_64/code_decode.h"

#include <Zydis/Decoder.h>
#include <Zydis/Zydis.h>

_Static_assert(ZYDIS_VERSION_MAJOR(ZYDIS_VERSION) == 4 && ZYDIS_VERSION_MINOR(ZYDIS_VERSION) == 0,
	       "struct layouts and the SONAME are those of Zydis 4.0");
_Static_assert(sizeof(ZydisDecoder) <= sizeof(((struct tpc_code_decoder *)0)->state), "it has room");

const char tpc_code_decoder_library[] = "libZydis.so.4.0";

bool tpc_code_decoder_set(struct tpc_code_decoder *decoder, void *(*find)(void *, const char *), void *library)
{
	ZyanU64 (*version)(void);
	ZyanStatus (*init)(void *, ZydisMachineMode, ZydisStackWidth);

	*(void **)&version = find(library, "ZydisGetVersion");
	*(void **)&init = find(library, "ZydisDecoderInit");
	*(void **)&decoder->decode = find(library, "ZydisDecoderDecodeInstruction");
	if (!version || !init || !decoder->decode || version() >> 32 != ZYDIS_VERSION >> 32)
		return false;
	return ZYAN_SUCCESS(init(decoder->state, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}

static uint8_t kind_of(const ZydisDecodedInstruction *it)
{
	switch (it->mnemonic) {
	case ZYDIS_MNEMONIC_ENDBR64:
		return TPC_CODE_ENDBR;
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		return TPC_CODE_JUMP_SHORT;
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_XBEGIN:
		return TPC_CODE_ODD;
	default:
		break;
	}
	if (it->meta.category == ZYDIS_CATEGORY_CALL) {
		if (it->raw.imm[0].is_relative)
			return TPC_CODE_CALL;
		return it->raw.modrm.reg == 2 ? TPC_CODE_CALL_POINTER : TPC_CODE_ODD; /* 3: to another segment */
	}
	if (!it->raw.imm[0].is_relative)
		return TPC_CODE_PLAIN;
	if (it->meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		return TPC_CODE_JUMP;
	return it->meta.category == ZYDIS_CATEGORY_COND_BR ? TPC_CODE_JUMP_IF : TPC_CODE_ODD;
}

/* An operand in memory: at an offset from the next instruction, or by %rsp? */
static void look_at_operand(const ZydisDecodedInstruction *it, struct tpc_code_instruction *to)
{
	if (!(it->attributes & ZYDIS_ATTRIB_HAS_MODRM))
		return;
	if (it->raw.modrm.mod == 3) {
		to->by_stack_pointer = it->raw.modrm.rm == 4 && !it->raw.rex.B;
		return;
	}
	if (it->raw.modrm.mod == 0 && it->raw.modrm.rm == 5 && it->raw.disp.size == 32) {
		to->relative_at = it->raw.disp.offset;
		to->relative_bytes = 4;
		if (it->address_width != 64)
			to->kind = TPC_CODE_ODD;
	}
	to->by_stack_pointer = it->raw.modrm.rm == 4 && it->raw.sib.base == 4 && !it->raw.rex.B;
}

/* Linkers put zeros between sections, which would be addb %al, (%rax). */
static bool is_filler(const ZydisDecodedInstruction *it, const uint8_t *bytes)
{
	return it->mnemonic == ZYDIS_MNEMONIC_NOP || it->mnemonic == ZYDIS_MNEMONIC_INT3 ||
	       (it->length == 2 && bytes[0] == 0 && bytes[1] == 0);
}

bool tpc_code_decode(const struct tpc_code_decoder *decoder, const uint8_t *bytes, size_t length,
		     struct tpc_code_instruction *instruction)
{
	ZydisDecodedInstruction it;

	if (!ZYAN_SUCCESS(decoder->decode(decoder->state, NULL, bytes, length, &it)))
		return false;
	*instruction = (struct tpc_code_instruction){ .length = it.length, .kind = kind_of(&it) };
	if (it.raw.imm[0].is_relative) {
		instruction->relative_at = it.raw.imm[0].offset;
		instruction->relative_bytes = it.raw.imm[0].size / 8;
		if (it.raw.imm[0].size != 8 && it.raw.imm[0].size != 32)
			instruction->kind = TPC_CODE_ODD;
	}
	look_at_operand(&it, instruction);
	instruction->filler = is_filler(&it, bytes);
	instruction->modrm_at = it.raw.modrm.offset;
	return true;
}
