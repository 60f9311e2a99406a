/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of symbols: a library that is compiled for the purpose, and a trace whose frames are addresses in it. Behind cmocka. */
#ifndef TPROF_TESTS_COMPILED_H
#define TPROF_TESTS_COMPILED_H

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "symbols/symbols.h"

#define BIAS UINT64_C(0x7f0000000000)
#define FRAMES 4000

static const char source[] = "#include <stdlib.h>\n"
			     "struct node { struct node *next; int value; };\n"
			     "static inline __attribute__((always_inline)) void *deepest(size_t n)\n"
			     "{\n"
			     "	return malloc(n);\n"
			     "}\n"
			     "static inline __attribute__((always_inline)) void *middle(size_t n)\n"
			     "{\n"
			     "	void *p = deepest(n + 1);\n"
			     "	return p ? p : deepest(n);\n"
			     "}\n"
			     "static __attribute__((noinline)) int hidden(int a)\n"
			     "{\n"
			     "	return a * a + 3;\n"
			     "}\n"
			     "namespace outer { namespace {\n"
			     "struct Thing { int v; __attribute__((noinline)) int method(int a) const; };\n"
			     "int Thing::method(int a) const { return v + hidden(a); }\n"
			     "} }\n"
			     "extern \"C\" int entry(int a)\n"
			     "{\n"
			     "	outer::Thing thing = { a };\n"
			     "	void *p = middle((size_t)a);\n"
			     "	int r = thing.method(a);\n"
			     "	free(p);\n"
			     "	return r;\n"
			     "}\n"
			     "template <class T> __attribute__((noinline)) T twice(T t)\n"
			     "{\n"
			     "	return t + t;\n"
			     "}\n"
			     "int use(int a) { return twice(a) + (int)twice((double)a); }\n";

/* A trace of one module, whose frames are every address of its functions. */
struct made {
	struct tprof_header header;
	struct tpa_module module;
	struct tpa_frame frames[FRAMES];
	struct tpa_trace trace;
	char path[200];
	uint8_t build_id[64];
};

__attribute__((format(printf, 1, 2))) static inline void run(const char *format, ...)
{
	char command[2000];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command) != 0)
		fail_msg("%s", command);
}

static inline void read_build_id(struct made *made)
{
	int fd = open(made->path, O_RDONLY);
	const void *id = NULL;
	ssize_t length;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	length = dwelf_elf_gnu_build_id(elf, &id);
	assert_in_range(length, 8, sizeof(made->build_id));
	memcpy(made->build_id, id, (size_t)length);
	made->module.build_id = made->build_id;
	made->module.build_id_length = (uint8_t)length;
	elf_end(elf);
	close(fd);
}

static inline void compile(struct made *made, const char *name, const char *flags)
{
	char path[200];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s.cc", folder, name);
	out = fopen(path, "w");
	fputs(source, out);
	fclose(out);
	snprintf(made->path, sizeof(made->path), "%s/%s.so", folder, name);
	run("cd %s && ${CXX:-g++} -O2 -fPIC -shared -Wl,--build-id %s -o %s %s/%s.cc", folder, flags, made->path,
	    folder, name);
	read_build_id(made);
}

static inline void begin(struct made *made)
{
	memset(made, 0, sizeof(*made));
	made->header.pid = 4711;
	made->trace.header = &made->header;
	made->trace.modules = &made->module;
	made->trace.module_count = 1;
	made->trace.frames = made->frames;
	made->trace.frame_count = 1;
	made->module =
		(struct tpa_module){ .id = 1, .bias = BIAS, .start = BIAS, .end = BIAS + 0x100000, .path = made->path };
}

static inline void add_frame(struct made *made, uint64_t address, uint8_t flags)
{
	assert_true(made->trace.frame_count < FRAMES);
	made->frames[made->trace.frame_count++] =
		(struct tpa_frame){ .pc = BIAS + address, .module = &made->module, .flags = flags };
}

/* Of a name as nm prints it, demangled. */
static inline uint64_t address_of(const struct made *made, const char *function)
{
	char line[500], command[400], name[200];
	uint64_t start, found = 0;
	FILE *in;

	snprintf(command, sizeof(command), "nm -C --defined-only %s", made->path);
	in = popen(command, "r");
	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "%" SCNx64 " %*1c %199[^\n]", &start, name) == 2 && strcmp(name, function) == 0)
			found = start;
	pclose(in);
	assert_true(found != 0);
	return found;
}

static inline const char *name_at(struct made *made, uint32_t frame, const char *debug_dir,
				  enum tpa_module_state *module_state)
{
	static char name[300];
	struct tpa_symbols_options options = { .debug_dir = debug_dir };
	struct tpa_symbols *symbols = tpa_symbols_open(&made->trace, &options);
	const struct tpa_symbol *symbol = tpa_symbols_frame(symbols, frame);

	snprintf(name, sizeof(name), "%s", symbol->locations[0].function ? symbol->locations[0].function : "");
	*module_state = tpa_symbols_module_state(symbols, &made->module);
	tpa_symbols_close(symbols);
	return name;
}

#endif
