/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/folded.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"

/* Replaces semicolons and newlines in names: they separate frames and stacks. */
static void put_name(const struct tpa_tree_node *node, FILE *out)
{
	const char *name = node->function;

	if (!name) {
		fprintf(out, "[%s]", node->module && *node->module ? node->module : "unknown");
		return;
	}
	for (; *name; name++)
		fputc(*name == ';' || *name == '\n' || *name == '\r' ? ':' : *name, out);
}

void tpa_folded_write(const struct tpa_tree *tree, FILE *out)
{
	uint32_t *path = tpa_zalloc((size_t)tree->depth + 1, sizeof(*path));

	for (size_t i = 1; i < tree->count; i++) {
		uint32_t depth = 0;

		if (!tree->nodes[i].self_bytes)
			continue;
		for (uint32_t node = (uint32_t)i; node; node = tree->nodes[node].parent)
			path[depth++] = node;
		while (depth-- > 0) {
			put_name(&tree->nodes[path[depth]], out);
			fputc(depth ? ';' : ' ', out);
		}
		fprintf(out, "%" PRIu64 "\n", tree->nodes[i].self_bytes);
	}
	free(path);
}
