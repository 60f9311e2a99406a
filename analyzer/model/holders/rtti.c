/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>

#include "model/holders/types.h"

/*
 * Does the name look like a type that the ABI mangled: a length and as many characters, or a nested name, a template, a
 * substitution?
 */
static bool looks_mangled(const char *name)
{
	if (*name == '*') /* a local type: compared by address */
		name++;
	if (!isdigit((unsigned char)name[0]) && !strchr("NSIZP", name[0]))
		return false;
	for (const char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_.$*", *at))
			return false;
	return true;
}

bool tpa_holders_rtti(struct tpa_holders_memory *memory, uint64_t object, char *name, size_t size)
{
	uint64_t table = tpa_holders_word(memory, object), info, text;

	if (table % 8 || !tpa_holders_in_file(memory, table) || !tpa_holders_in_file(memory, table - 16))
		return false;
	info = tpa_holders_word(memory, table - 8);
	if (tpa_holders_word(memory, table - 16) || info % 8 || !tpa_holders_in_file(memory, info) ||
	    !tpa_holders_in_file(memory, tpa_holders_word(memory, info)))
		return false;
	text = tpa_holders_word(memory, info + 8);
	if (!tpa_holders_in_file(memory, text) || !tpa_holders_text(memory, text, name, size) || !looks_mangled(name))
		return false;
	if (*name == '*')
		memmove(name, name + 1, strlen(name));
	return true;
}

void tpa_holders_type(struct tpa_holders_memory *memory, uint64_t address, uint64_t size, struct tpa_holders_type *type)
{
	*type = (struct tpa_holders_type){ .kind = TPROF_HOLDER_BLOCK };
	if (size >= 8 && tpa_holders_rtti(memory, address, type->name, sizeof(type->name)))
		type->kind = TPROF_HOLDER_CXX;
}
