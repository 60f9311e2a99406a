/* SPDX-License-Identifier: Apache-2.0 */
/* What is mapped where, against libc's own reading of the same lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/maps.h"

#define MANY 200
#define PAGE 4096u

/* So many mappings that a buffer of one page is filled again and again: no two neighbours are of one kind. */
static void map_many(void)
{
	for (int i = 0; i < MANY; i++)
		assert_true(mmap(NULL, PAGE, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
			    MAP_FAILED);
}

struct line {
	struct tpc_range range;
	char rights[8], path[PAGE];
};

static struct line *read_lines(size_t *count)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct line *lines = calloc(4096, sizeof(*lines));
	char *text = NULL;
	size_t room = 0;

	assert_non_null(maps);
	assert_non_null(lines);
	for (*count = 0; *count < 4096 && getline(&text, &room, maps) > 0; ++*count) {
		struct line *line = &lines[*count];
		const char *path = strchr(text, '/');

		text[strcspn(text, "\n")] = 0;
		assert_int_equal(sscanf(text, "%lx-%lx %7s", &line->range.low, &line->range.high, line->rights), 3);
		snprintf(line->path, sizeof(line->path), "%s", path ? path : "");
	}
	free(text);
	fclose(maps);
	return lines;
}

static bool next(const struct tpc_mapping *mapping, void *data)
{
	struct line **at = data, *line = (*at)++;

	assert_int_equal(mapping->range.low, line->range.low);
	assert_int_equal(mapping->range.high, line->range.high);
	assert_int_equal(mapping->readable, line->rights[0] == 'r');
	assert_int_equal(mapping->shared, line->rights[3] == 's');
	assert_string_equal(mapping->path, line->path);
	return false;
}

static void as_libc_reads_it(void **state)
{
	static char buffer[PAGE];
	struct line *lines, *at;
	size_t count, files = 0;
	const char *path;

	(void)state;
	map_many();
	lines = at = read_lines(&count);
	assert_true(count > MANY);
	tpc_maps_each(buffer, sizeof(buffer), next, &at);
	assert_int_equal(at - lines, count);
	for (size_t i = 0; i < count; i++) {
		struct tpc_range found = tpc_maps_find(lines[i].range.high - 1, buffer, sizeof(buffer), &path);

		if (lines[i].rights[0] != 'r') {
			assert_int_equal(found.high, 0);
			continue;
		}
		assert_int_equal(found.low, lines[i].range.low);
		assert_int_equal(found.high, lines[i].range.high);
		assert_string_equal(path, lines[i].path);
		files += *path == '/';
	}
	assert_true(files > 5);
	free(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(as_libc_reads_it) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
