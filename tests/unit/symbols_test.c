/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols against addr2line and nm, on a library that is compiled for the purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <libiberty/demangle.h>

#include "compiled.h"
#include "symbols/image.h"

/* Every byte of the functions that the source defines. */
static void add_functions(struct made *made)
{
	char line[500], command[400], name[200];
	uint64_t start, size;
	FILE *in;

	snprintf(command, sizeof(command), "nm -S --defined-only %s", made->path);
	in = popen(command, "r");
	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %*1[tTW] %199s", &start, &size, name) == 3)
			for (uint64_t at = start; at < start + size; at++)
				add_frame(made, at, TPROF_FRAME_EXACT);
	pclose(in);
	assert_true(made->trace.frame_count > 60);
}

/* What addr2line prints for one location: "function\nfile:line\n". */
static void print_location(char *text, size_t size, const struct tpa_location *location)
{
	char *full = location->linkage ? cplus_demangle(location->linkage, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI) : NULL;
	const char *name = full ? full : location->function; /* addr2line names the type that a template returns */
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s\n%s:", name ? name : "??", location->file ? location->file : "??");
	free(full);
	used = strlen(text);
	if (location->line)
		snprintf(text + used, size - used, "%d\n", location->line);
	else
		snprintf(text + used, size - used, "?\n");
}

/* Reads up to the next address that addr2line -a prints, and drops "(discriminator 1)". */
static void read_truth(FILE *in, char *text, size_t size)
{
	char line[1000];
	int first;

	text[0] = '\0';
	while ((first = getc(in)) != EOF) {
		ungetc(first, in);
		if (first == '0' || !fgets(line, sizeof(line), in))
			return;
		if (strstr(line, " (discriminator"))
			strcpy(strstr(line, " (discriminator"), "\n");
		strncat(text, line, size - strlen(text) - 1);
	}
}

static void same_as_addr2line(struct made *made, const char *truth_file)
{
	struct tpa_symbols *symbols = tpa_symbols_open(&made->trace, NULL);
	char list[200], truth[4000], ours[4000], line[600];
	size_t inlined = 0;
	FILE *io;

	snprintf(list, sizeof(list), "%s/addresses", folder);
	io = fopen(list, "w");
	for (size_t i = 1; i < made->trace.frame_count; i++)
		fprintf(io, "0x%" PRIx64 "\n", made->frames[i].pc - BIAS);
	fclose(io);
	snprintf(line, sizeof(line), "addr2line -C -a -f -i -e %s < %s", truth_file, list);
	io = popen(line, "r");
	for (size_t i = 1; i < made->trace.frame_count; i++) {
		const struct tpa_symbol *symbol = tpa_symbols_frame(symbols, (uint32_t)i);

		assert_non_null(fgets(line, sizeof(line), io)); /* the address */
		read_truth(io, truth, sizeof(truth));
		ours[0] = '\0';
		for (size_t l = 0; l < symbol->count; l++) {
			print_location(ours, sizeof(ours), &symbol->locations[l]);
			assert_int_equal(symbol->locations[l].inlined, l + 1 < symbol->count);
		}
		inlined += symbol->count > 1;
		/* addr2line takes the symbol's name for the innermost function where an inlined one has an empty range. */
		if (strcmp(symbol->count > 1 ? strchr(ours, '\n') : ours,
			   symbol->count > 1 ? strchr(truth, '\n') : truth) != 0)
			fail_msg("at %#" PRIx64 ": ours\n%saddr2line's\n%s", made->frames[i].pc - BIAS, ours, truth);
	}
	pclose(io);
	assert_true(inlined > 5);
	tpa_symbols_close(symbols);
}

/* Where the program calls malloc: the return addresses. */
static size_t add_calls(struct made *made, const char *callee)
{
	char line[500], command[400];
	size_t before = made->trace.frame_count;
	bool next = false;
	uint64_t address;
	FILE *in;

	snprintf(command, sizeof(command), "objdump -d --no-show-raw-insn %s", made->path);
	in = popen(command, "r");
	while (fgets(line, sizeof(line), in)) {
		if (next && sscanf(line, " %" SCNx64 ":", &address) == 1)
			add_frame(made, address, 0);
		next = strstr(line, "call") && strstr(line, callee);
	}
	pclose(in);
	return made->trace.frame_count - before;
}

static void inlined_calls(void **state)
{
	static const int outer_line[] = { 9, 10 };
	struct tpa_symbols *symbols;
	struct made made;
	size_t seen[2] = { 0, 0 };

	(void)state;
	begin(&made);
	compile(&made, "inlined", "-g");
	assert_int_equal(add_calls(&made, "<malloc@plt>"), 2);
	symbols = tpa_symbols_open(&made.trace, NULL);
	for (uint32_t i = 1; i <= 2; i++) {
		const struct tpa_symbol *symbol = tpa_symbols_frame(symbols, i);

		assert_int_equal(symbol->count, 3);
		assert_string_equal(symbol->locations[0].function, "deepest");
		assert_int_equal(symbol->locations[0].line, 5);
		assert_string_equal(symbol->locations[1].function, "middle");
		seen[0] += symbol->locations[1].line == outer_line[0];
		seen[1] += symbol->locations[1].line == outer_line[1];
		assert_string_equal(symbol->locations[2].function, "entry");
		assert_int_equal(symbol->locations[2].line, 23);
		assert_string_equal(symbol->module, "inlined.so");
		assert_string_equal(symbol->path, made.path);
	}
	assert_int_equal(seen[0], 1);
	assert_int_equal(seen[1], 1);
	tpa_symbols_close(symbols);
}

static void every_address_as_addr2line_says(void **state)
{
	static const char *const flags[] = { "-g", "-gdwarf-4", "-g -gsplit-dwarf", "-g -O3 -ffunction-sections" };
	struct made made;
	char first[300];

	(void)state;
	snprintf(first, sizeof(first), "%s/first.so", folder);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		begin(&made);
		compile(&made, "plain", flags[i]);
		if (i == 0)
			run("cp %s %s", made.path, first);
		add_functions(&made);
		/* addr2line knows little of split DWARF: the same code with its debug information inside is the truth. */
		same_as_addr2line(&made, strstr(flags[i], "split") ? first : made.path);
	}
}

static void separate_debug_file(void **state)
{
	struct made made;
	char truth[300];

	(void)state;
	begin(&made);
	compile(&made, "linked", "-g");
	add_functions(&made);
	snprintf(truth, sizeof(truth), "%s/truth.so", folder);
	run("cd %s && cp linked.so truth.so && mkdir -p .debug && objcopy --only-keep-debug linked.so "
	    ".debug/linked.debug && "
	    "strip linked.so && objcopy --add-gnu-debuglink=.debug/linked.debug linked.so",
	    folder);
	same_as_addr2line(&made, truth);
}

static void files_of_another_build_give_no_names(void **state)
{
	enum tpa_module_state module_state;
	struct made made, other;
	char moved[300];

	(void)state;
	begin(&made);
	compile(&made, "old", "-g");
	add_frame(&made, address_of(&made, "entry"), TPROF_FRAME_EXACT);
	assert_string_equal(name_at(&made, 1, NULL, &module_state), "entry");
	assert_int_equal(module_state, TPA_MODULE_OK);
	run("mkdir -p %s/kept && cp %s %s/kept/", folder, made.path, folder);
	begin(&other);
	compile(&other, "old", "-g -DANOTHER -O1"); /* the same file, another build */
	assert_string_equal(name_at(&made, 1, NULL, &module_state), "");
	assert_int_equal(module_state, TPA_MODULE_REPLACED);
	/* A copy of the right build below --debug-dir is as good, but what happened to the file is still told. */
	snprintf(moved, sizeof(moved), "%s/kept", folder);
	assert_string_equal(name_at(&made, 1, moved, &module_state), "entry");
	assert_int_equal(module_state, TPA_MODULE_REPLACED);
	assert_int_equal(unlink(made.path), 0);
	assert_string_equal(name_at(&made, 1, NULL, &module_state), "");
	assert_int_equal(module_state, TPA_MODULE_MISSING);
	run("echo text > %s", made.path);
	assert_string_equal(name_at(&made, 1, NULL, &module_state), "");
	assert_int_equal(module_state, TPA_MODULE_UNREADABLE);
	unlink(made.path);
	run("mkfifo %s", made.path); /* must not wait for a writer */
	assert_string_equal(name_at(&made, 1, NULL, &module_state), "");
	assert_int_equal(module_state, TPA_MODULE_UNREADABLE);
}

static void debug_file_by_build_id_alone(void **state)
{
	enum tpa_module_state module_state;
	struct made made;
	char debug[300], path[500];
	int used;

	(void)state;
	begin(&made);
	compile(&made, "gone", "-g");
	add_frame(&made, address_of(&made, "hidden(int)"), TPROF_FRAME_EXACT);
	snprintf(debug, sizeof(debug), "%s/store", folder);
	used = snprintf(path, sizeof(path), "%s/.build-id/%02x/", debug, made.build_id[0]);
	run("mkdir -p %s", path);
	for (size_t i = 1; i < made.module.build_id_length; i++)
		used += snprintf(path + used, sizeof(path) - (size_t)used, "%02x", made.build_id[i]);
	run("objcopy --only-keep-debug %s %s.debug && rm %s", made.path, path, made.path);
	assert_string_equal(name_at(&made, 1, debug, &module_state), "hidden(int)");
	assert_int_equal(module_state, TPA_MODULE_MISSING);
}

/* The first instruction behind a call belongs to another line, or another function. */
static void return_addresses_name_the_call(void **state)
{
	enum tpa_module_state module_state;
	struct made made;
	uint64_t start;

	(void)state;
	begin(&made);
	compile(&made, "calls", "-g");
	start = address_of(&made, "hidden(int)");
	add_frame(&made, start, TPROF_FRAME_EXACT);
	add_frame(&made, start, 0);
	add_frame(&made, start + 1, 0);
	assert_string_equal(name_at(&made, 1, NULL, &module_state), "hidden(int)");
	assert_string_not_equal(name_at(&made, 2, NULL, &module_state), "hidden(int)");
	assert_string_equal(name_at(&made, 3, NULL, &module_state), "hidden(int)");
	assert_string_equal(name_at(&made, 99, NULL, &module_state), "");
}

static void without_debug_information(void **state)
{
	enum tpa_module_state module_state;
	struct made made;

	(void)state;
	begin(&made);
	compile(&made, "bare", "");
	add_frame(&made, address_of(&made, "int twice<int>(int)"), TPROF_FRAME_EXACT);
	add_frame(&made, 1, TPROF_FRAME_EXACT); /* of no function */
	assert_string_equal(name_at(&made, 1, NULL, &module_state), "twice<int>(int)");
	assert_string_equal(name_at(&made, 2, NULL, &module_state), "");
}

/* A file is read once for all traces, wherever each of them had it. Another file of the name is another one. */
static void one_image_for_all_traces(void **state)
{
	const uint64_t apart = UINT64_C(0x123456000);
	struct made made, other;
	const struct tpa_image *image;
	struct tpa_symbols *one, *two;

	(void)state;
	begin(&made);
	compile(&made, "shared", "-g");
	add_functions(&made);
	other = made;
	other.trace.header = &other.header;
	other.trace.modules = &other.module;
	other.trace.frames = other.frames;
	other.module.bias += apart;
	other.module.start += apart;
	other.module.end += apart;
	other.module.build_id = other.build_id;
	other.module.path = other.path;
	for (size_t i = 1; i < other.trace.frame_count; i++) {
		other.frames[i].pc += apart;
		other.frames[i].module = &other.module;
	}
	image = tpa_image_of(&made.module, NULL);
	assert_ptr_equal(tpa_image_of(&other.module, NULL), image);
	assert_ptr_not_equal(tpa_image_of(&other.module, folder), image);
	one = tpa_symbols_open(&made.trace, NULL);
	two = tpa_symbols_open(&other.trace, NULL);
	for (uint32_t i = 1; i < made.trace.frame_count; i++) {
		const struct tpa_symbol *a = tpa_symbols_frame(one, i), *b = tpa_symbols_frame(two, i);

		assert_int_equal(a->count, b->count);
		assert_non_null(a->locations[0].function);
		assert_string_equal(a->locations[0].function, b->locations[0].function);
		assert_int_equal(a->locations[0].line, b->locations[0].line);
	}
	tpa_symbols_close(one);
	tpa_symbols_close(two);
	begin(&other);
	compile(&other, "shared", "-g -DANOTHER -O1");
	assert_ptr_not_equal(tpa_image_of(&other.module, NULL), image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_address_as_addr2line_says),
		cmocka_unit_test(inlined_calls),
		cmocka_unit_test(separate_debug_file),
		cmocka_unit_test(files_of_another_build_give_no_names),
		cmocka_unit_test(debug_file_by_build_id_alone),
		cmocka_unit_test(return_addresses_name_the_call),
		cmocka_unit_test(without_debug_information),
		cmocka_unit_test(one_image_for_all_traces),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
