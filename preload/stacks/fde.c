/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/fde.h"

#include "stacks/dwarf.h"

#define ADDRESS_BYTES 8u
#define LONG UINT32_MAX /* in place of a length: the length follows, in 8 bytes (64-bit DWARF) */

struct record {
	struct tpc_cursor in; /* its content */
	size_t id_bytes;      /* of a CIE's id, or of an FDE's reference to its CIE */
};

/* A CIE or FDE, by its length. Records of 64-bit DWARF do not occur in .eh_frame here: they have no content. */
static struct record content(const uint8_t *at, const struct tpc_debug_section *section)
{
	const uint8_t *end = section ? section->start + section->size : at + 4;
	struct record record = { { at, end }, 4 };
	uint64_t length = tpc_read_fixed(&record.in, 4);

	if (length == LONG) {
		record.id_bytes = 8;
		length = tpc_read_fixed(&record.in, 8);
	}
	if (!section && record.id_bytes == 4)
		end = record.in.at + length;
	if (length > (uint64_t)(end - record.in.at))
		length = 0;
	record.in.end = record.in.at + length;
	return record;
}

/* A CIE's id in .debug_frame; in .eh_frame it is 0. */
static uint64_t cie_id(const struct record *record)
{
	return record->id_bytes == 8 ? UINT64_MAX : UINT32_MAX;
}

/* The letters of a CIE's augmentation. NULL: they have no end. */
static const char *read_letters(struct tpc_cursor *in)
{
	const char *letters = (const char *)in->at;

	while (in->at < in->end)
		if (*in->at++ == 0)
			return letters;
	return NULL;
}

static struct tpc_cursor read_augmentation_data(struct tpc_cursor *in)
{
	uint64_t length = tpc_read_uleb(in);
	struct tpc_cursor data = *in;

	if (length > (uint64_t)(in->end - in->at))
		length = (uint64_t)(in->end - in->at);
	in->at += length;
	data.end = in->at;
	return data;
}

struct cie {
	struct tpc_cursor instructions;
	bool has_length; /* augmentation 'z': FDEs carry augmentation data */
	bool is_signal;
};

static void read_augmentation(struct tpc_cursor data, const char *letters, struct tpc_cfi *cfi, struct cie *cie)
{
	for (; *letters; letters++) {
		uint8_t encoding;

		switch (*letters) {
		case 'R':
			cfi->pointer_encoding = (uint8_t)tpc_read_fixed(&data, 1);
			break;
		case 'P':
			encoding = (uint8_t)tpc_read_fixed(&data, 1);
			tpc_read_pointer(&data, encoding, 0);
			break;
		case 'L':
			tpc_read_fixed(&data, 1);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* arm64's */
			break;
		default:
			return; /* unknown data follows, but its length was used to skip it */
		}
	}
}

/* Versions 1 and 3 are those of .eh_frame too; 4 adds the size of an address. */
static bool read_version(struct tpc_cursor *in, uint8_t version, const struct tpc_debug_section *section)
{
	if (version == 4 && section)
		return tpc_read_fixed(in, 1) == ADDRESS_BYTES && tpc_read_fixed(in, 1) == 0;
	return version == 1 || version == 3;
}

static bool read_cie(const uint8_t *at, const struct tpc_debug_section *section, struct tpc_cfi *cfi, struct cie *cie)
{
	struct record record = content(at, section);
	struct tpc_cursor in = record.in;
	const char *letters;
	uint8_t version;

	if (in.at == in.end || tpc_read_fixed(&in, record.id_bytes) != (section ? cie_id(&record) : 0))
		return false;
	version = (uint8_t)tpc_read_fixed(&in, 1);
	letters = read_letters(&in);
	if (!letters || !read_version(&in, version, section))
		return false;
	cfi->code_align = tpc_read_uleb(&in);
	cfi->data_align = tpc_read_sleb(&in);
	cfi->ra_register = version == 1 ? tpc_read_fixed(&in, 1) : tpc_read_uleb(&in);
	if (letters[0] == 'z') {
		cie->has_length = true;
		read_augmentation(read_augmentation_data(&in), letters + 1, cfi, cie);
	} else if (section && strcmp(letters, "S") == 0) {
		cie->is_signal = true;
	} else if (letters[0]) {
		return false;
	}
	cie->instructions = in;
	return true;
}

/* The CIE that an FDE refers to; `here` is where it does. NULL: the record is no FDE. */
static const uint8_t *cie_of(const uint8_t *here, uint64_t reference, const struct tpc_debug_section *section)
{
	if (!section)
		return reference ? here - reference : NULL;
	return section->size >= 4 && reference <= section->size - 4 ? section->start + reference : NULL;
}

bool tpc_fde_read(const uint8_t *at, const struct tpc_debug_section *section, struct tpc_cfi *cfi, struct tpc_fde *fde)
{
	struct record record = content(at, section);
	struct tpc_cursor in = record.in;
	const uint8_t *cie_at = cie_of(record.in.at, tpc_read_fixed(&in, record.id_bytes), section);
	struct cie cie = { .is_signal = false };

	cfi->pointer_encoding = TPC_PE_ABSPTR;
	cfi->bias = section ? section->bias : 0;
	if (!cie_at || !read_cie(cie_at, section, cfi, &cie))
		return false;
	fde->code.low = tpc_read_pointer(&in, cfi->pointer_encoding, 0) + cfi->bias;
	fde->code.high = fde->code.low + tpc_read_pointer(&in, cfi->pointer_encoding & 0x0f, 0);
	if (cie.has_length)
		read_augmentation_data(&in);
	fde->common = cie.instructions;
	fde->specific = in;
	fde->is_signal = cie.is_signal;
	return true;
}
