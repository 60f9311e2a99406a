/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

static int compare(const void *left, const void *right)
{
	const struct tpa_variable *a = left, *b = right;

	/* a search from the right meets the better name first */
	return TPA_UP(a->thread_local, b->thread_local) ?: TPA_UP(a->low, b->low) ?: TPA_DOWN(a->local, b->local) ?:
	       strcmp(b->name, a->name);
}

static void add(struct tpa_variables *variables, Dwfl_Module *module, int index)
{
	GElf_Word section = 0;
	GElf_Addr value = 0, bias = 0;
	GElf_Sym symbol;
	const char *name = dwfl_module_getsym_info(module, index, &symbol, &value, &section, NULL, &bias);
	unsigned type = name ? GELF_ST_TYPE(symbol.st_info) : STT_NOTYPE;

	if (!name || !*name || !symbol.st_size || symbol.st_shndx == SHN_UNDEF ||
	    (type != STT_OBJECT && type != STT_TLS))
		return;
	if (type == STT_TLS)
		value = symbol.st_value;
	variables->list[variables->count++] = (struct tpa_variable){ .low = value,
								     .high = value + symbol.st_size,
								     .name = name,
								     .local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL,
								     .thread_local = type == STT_TLS };
}

void tpa_variables_load(struct tpa_variables *variables, const struct tpa_image *image)
{
	int count = image && image->module ? dwfl_module_getsymtab(image->module) : 0;

	*variables = (struct tpa_variables){ 0 };
	if (count <= 0)
		return;
	variables->list = tpa_zalloc((size_t)count, sizeof(*variables->list));
	for (int i = 0; i < count; i++)
		add(variables, image->module, i);
	qsort(variables->list, variables->count, sizeof(*variables->list), compare);
}

void tpa_variables_free(struct tpa_variables *variables)
{
	free(variables->list);
	*variables = (struct tpa_variables){ 0 };
}

const struct tpa_variable *tpa_variables_find(const struct tpa_variables *variables, uint64_t address,
					      bool thread_local)
{
	size_t low = 0, high = variables->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct tpa_variable *variable = &variables->list[middle];

		if (variable->thread_local < thread_local ||
		    (variable->thread_local == thread_local && variable->low <= address))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || variables->list[low - 1].thread_local != thread_local || address >= variables->list[low - 1].high)
		return NULL;
	return &variables->list[low - 1];
}
