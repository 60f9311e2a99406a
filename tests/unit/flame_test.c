/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of stacks, and the SVG made of them: sums, order, and well-formed whatever the names are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/export/flame.h"
#include "report/rows/tree.h"

#include "folder.h"

/* Frames are JIT code here: their names are what the test writes into the map. */

enum { A = 16, AB, ABC, AX, NODES };

struct made {
	struct tprof_header header;
	struct tpa_frame frames[6];
	struct tpa_node nodes[NODES];
	struct tpa_trace trace;
	struct tpa_site sites[4];
	struct tpa_process process;
	struct tpa_symbols *symbols;
};

static void make(struct made *made, const char *const names[4])
{
	struct tpa_symbols_options options = { .debug_dir = folder };
	char path[200];
	FILE *out;

	memset(made, 0, sizeof(*made));
	snprintf(path, sizeof(path), "%s/perf-99.map", folder);
	out = fopen(path, "w");
	for (int i = 0; i < 4; i++) {
		fprintf(out, "%x00 10 %s\n", i + 1, names[i]);
		made->frames[i + 1] = (struct tpa_frame){ .pc = (uint64_t)(i + 1) << 8, .flags = TPROF_FRAME_EXACT };
	}
	fclose(out);
	made->header.pid = 99;
	made->nodes[A] = (struct tpa_node){ TPROF_NODE_ROOT, 1 };
	made->nodes[AB] = (struct tpa_node){ A, 2 };
	made->nodes[ABC] = (struct tpa_node){ AB, 3 };
	made->nodes[AX] = (struct tpa_node){ A, 4 };
	made->trace = (struct tpa_trace){ .header = &made->header,
					  .frames = made->frames,
					  .frame_count = 5,
					  .nodes = made->nodes,
					  .node_count = NODES,
					  .cwd = "",
					  .exe = "/bin/prog" };
	made->sites[0] = (struct tpa_site){
		.node = ABC, .peak_bytes = 600, .peak_blocks = 6, .allocations = 10, .bytes = 1000, .temporary = 5
	};
	made->sites[1] =
		(struct tpa_site){ .node = AX, .peak_bytes = 300, .peak_blocks = 3, .allocations = 3, .bytes = 300 };
	made->sites[2] =
		(struct tpa_site){ .node = AB, .peak_bytes = 100, .peak_blocks = 1, .allocations = 1, .bytes = 100 };
	made->sites[3] = (struct tpa_site){
		.node = TPROF_NODE_NONE, .peak_bytes = 24, .peak_blocks = 1, .allocations = 1, .bytes = 24
	};
	made->process = (struct tpa_process){ .trace = &made->trace, .sites = made->sites, .site_count = 4 };
	made->symbols = tpa_symbols_open(&made->trace, &options);
}

static const char *const plain_names[4] = { "main", "load", "parse", "train" };

static struct tpa_tree *build(struct made *made, enum tpa_what what)
{
	struct tpa_tree_options options = { .what = what };
	struct tpa_tree *tree = tpa_tree_new();

	tpa_tree_add(tree, &made->process, made->symbols, &options);
	tpa_tree_finish(tree);
	return tree;
}

static const struct tpa_tree_node *child(const struct tpa_tree *tree, const struct tpa_tree_node *node, int index)
{
	uint32_t i = node->first_child;

	while (index-- > 0)
		i = tree->nodes[i].next_sibling;
	assert_true(i != 0);
	return &tree->nodes[i];
}

static void sums_and_order(void **state)
{
	const struct tpa_tree_node *node;
	struct tpa_tree *tree;
	struct made made;

	(void)state;
	make(&made, plain_names);
	tree = build(&made, TPA_WHAT_PEAK);
	assert_int_equal(tree->nodes[0].bytes, 1024);
	assert_int_equal(tree->nodes[0].calls, 11);
	assert_int_equal(tree->depth, 3);
	node = child(tree, &tree->nodes[0], 0);
	assert_string_equal(node->function, "main");
	assert_int_equal(node->bytes, 1000);
	assert_int_equal(node->self_bytes, 0);
	assert_string_equal(child(tree, &tree->nodes[0], 1)->function, "(stack not recorded)");
	assert_string_equal(child(tree, node, 1)->function, "train");
	node = child(tree, node, 0);
	assert_string_equal(node->function, "load");
	assert_int_equal(node->bytes, 700);
	assert_int_equal(node->self_bytes, 100);
	tpa_tree_free(tree);
	tree = build(&made, TPA_WHAT_TEMPORARY);
	assert_int_equal(tree->nodes[0].calls, 5);
	assert_int_equal(tree->nodes[0].bytes, 500); /* half of the 1000 bytes there */
	tpa_tree_free(tree);
	tpa_symbols_close(made.symbols);
}

/*
 * A small check of well-formedness: tags nest and close, attributes are quoted, & begins an entity, no control
 * characters, valid UTF-8 is left to xmllint where there is one.
 */
static const char *check_tag(const char *p, char open[][40], int *depth)
{
	bool closing = p[1] == '/', quoted = false;
	const char *name = p + 1 + closing, *end = name;

	while (isalnum((unsigned char)*end))
		end++;
	assert_true(end > name && end - name < 40);
	for (p = end; quoted || *p != '>'; p++) {
		assert_true(*p && *p != '<');
		quoted ^= *p == '"';
	}
	if (closing) {
		assert_true(*depth > 0);
		(*depth)--;
		assert_int_equal(strlen(open[*depth]), end - name);
		assert_memory_equal(open[*depth], name, (size_t)(end - name));
	} else if (p[-1] != '/') {
		assert_true(*depth < 20);
		snprintf(open[(*depth)++], 40, "%.*s", (int)(end - name), name);
	}
	return p + 1;
}

static void check_well_formed(const char *text)
{
	char open[20][40];
	int depth = 0;

	assert_memory_equal(text, "<?xml ", 6);
	for (const char *p = strchr(text, '\n'); *p;) {
		if (strncmp(p, "<![CDATA[", 9) == 0) {
			p = strstr(p, "]]>");
			assert_non_null(p);
			p += 3;
		} else if (*p == '<') {
			p = check_tag(p, open, &depth);
		} else {
			if (*p == '&')
				assert_true(strncmp(p, "&amp;", 5) == 0 || strncmp(p, "&lt;", 4) == 0 ||
					    strncmp(p, "&gt;", 4) == 0 || strncmp(p, "&quot;", 6) == 0);
			assert_true((unsigned char)*p >= ' ' || *p == '\n' || *p == '\t');
			p++;
		}
	}
	assert_int_equal(depth, 0);
}

static void check_with_xmllint(const char *text)
{
	char path[200], command[300];
	FILE *out;

	if (system("command -v xmllint >/dev/null") != 0)
		return;
	snprintf(path, sizeof(path), "%s/f.svg", folder);
	out = fopen(path, "w");
	fputs(text, out);
	fclose(out);
	snprintf(command, sizeof(command), "xmllint --noout %s", path);
	assert_int_equal(system(command), 0);
}

static char *svg(const struct tpa_tree *tree, const char *title)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	tpa_flame_write(tree, title, "blocks", false, out);
	fclose(out);
	return text;
}

static void svg_is_well_formed(void **state)
{
	static const char *const names[4] = { "a<b>&\"c'", "\xff\xfe\142ad\x01", "\xed\xa0\x80 surrogate \xef\xbf\xbf",
					      "]]> \xc3\xa4\xe2\x82\xac" };
	struct tpa_tree *tree;
	struct made made;
	char *text;

	(void)state;
	make(&made, names);
	tree = build(&made, TPA_WHAT_PEAK);
	text = svg(tree, "<title> & \"more\"");
	check_well_formed(text);
	check_with_xmllint(text);
	assert_non_null(strstr(text, "a&lt;b&gt;&amp;&quot;c'"));
	assert_non_null(strstr(text, "600 B (58.6%) in 6 blocks"));
	free(text);
	tpa_tree_free(tree);
	tpa_symbols_close(made.symbols);
}

static void same_input_same_picture(void **state)
{
	struct tpa_tree *first, *second;
	struct made made;
	char *a, *b;

	(void)state;
	make(&made, plain_names);
	first = build(&made, TPA_WHAT_ALLOCATED);
	second = build(&made, TPA_WHAT_ALLOCATED);
	a = svg(first, "t");
	b = svg(second, "t");
	assert_string_equal(a, b);
	free(a);
	free(b);
	tpa_tree_free(first);
	tpa_tree_free(second);
	tpa_symbols_close(made.symbols);
}

static void nothing_is_a_picture_too(void **state)
{
	struct tpa_tree *tree = tpa_tree_new();
	char *text;

	(void)state;
	tpa_tree_finish(tree);
	text = svg(tree, "empty");
	check_well_formed(text);
	assert_non_null(strstr(text, "nothing to show"));
	free(text);
	tpa_tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_and_order),
		cmocka_unit_test(svg_is_well_formed),
		cmocka_unit_test(same_input_same_picture),
		cmocka_unit_test(nothing_is_a_picture_too),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
