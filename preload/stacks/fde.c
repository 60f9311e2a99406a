/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/fde.h"

#include "stacks/dwarf.h"

#define ADDRESS_BYTES 8u
#define DEBUG_CIE_ID 0xffffffffu /* in .eh_frame it is 0 */

/* The content of a CIE or FDE, by its length. Records of 64-bit DWARF are not read: they have no content here. */
static struct tpc_cursor content(const uint8_t *record, const struct tpc_debug_section *section)
{
	struct tpc_cursor in = { record, record + 4 };
	uint32_t length = (uint32_t)tpc_read_fixed(&in, 4);

	if (length == 0xffffffff || (section && length > (size_t)(section->start + section->size - in.at)))
		length = 0;
	in.end = in.at + length;
	return in;
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

static bool read_cie(const uint8_t *record, const struct tpc_debug_section *section, struct tpc_cfi *cfi,
		     struct cie *cie)
{
	struct tpc_cursor in = content(record, section);
	const char *letters;
	uint8_t version;

	if (in.at == in.end || tpc_read_fixed(&in, 4) != (section ? DEBUG_CIE_ID : 0))
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
static const uint8_t *cie_of(const uint8_t *here, uint32_t reference, const struct tpc_debug_section *section)
{
	if (!section)
		return reference ? here - reference : NULL;
	return section->size >= 4 && reference <= section->size - 4 ? section->start + reference : NULL;
}

bool tpc_fde_read(const uint8_t *record, const struct tpc_debug_section *section, struct tpc_cfi *cfi,
		  struct tpc_fde *fde)
{
	struct tpc_cursor in = content(record, section);
	const uint8_t *here = in.at;
	const uint8_t *cie_record = cie_of(here, (uint32_t)tpc_read_fixed(&in, 4), section);
	struct cie cie = { .is_signal = false };

	cfi->pointer_encoding = TPC_PE_ABSPTR;
	cfi->bias = section ? section->bias : 0;
	if (!cie_record || !read_cie(cie_record, section, cfi, &cie))
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
