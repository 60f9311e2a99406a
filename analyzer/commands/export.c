/* SPDX-License-Identifier: Apache-2.0 */
/* export: stacks, and ops over time, for other tools. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/export_chrome.h"
#include "commands/tree_report.h"

/* A semicolon separates frames and a newline stacks: neither may stand in a name. */
static void put_name(const struct tp_tree_node *node, FILE *out)
{
	const char *name = node->function;

	if (!name) {
		fprintf(out, "[%s]", node->module && *node->module ? node->module : "unknown");
		return;
	}
	for (; *name; name++)
		fputc(*name == ';' || *name == '\n' || *name == '\r' ? ':' : *name, out);
}

/* One line a stack: function;function;function bytes (CPU time: nanoseconds), outermost first. */
static void write_folded(const struct tp_tree *tree, const struct tp_session *session, const char *title)
{
	uint32_t *path = calloc((size_t)tree->depth + 1, sizeof(*path));
	FILE *out = session->page.out;

	(void)title;
	for (size_t i = 1; path && i < tree->count; i++) {
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
	if (!path)
		tp_out_of_memory();
	free(path);
}

int tp_cmd_export(const struct tp_options *options)
{
	if (strcmp(options->format, "chrome") == 0)
		return tp_export_chrome(options);
	return tp_tree_report(options, write_folded);
}
