/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump FILE [ticks] [v8] [unmapped] [stops]: makes code at run time, as a compiler would, and writes perf's jitdump of it.
 * Its functions allocate blocks of sizes of their own on two lines each. One function takes another's place at the same
 * address, is moved away, and a third comes. `ticks`: times are the processor's; `v8`: lines count as V8 does;
 * `unmapped`: the file is not mapped, which would say where it is; `stops`: the program stops itself after each function.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define ROUNDS 20
#define PLACE 256 /* bytes apart that functions lie */

static FILE *dump;
static bool ticks, v8, stops;
static uint8_t *code;
static uint64_t loads;
static void *volatile kept;

static __attribute__((noinline)) void keep(size_t size)
{
	kept = malloc(size);
	*(volatile char *)kept = 0;
}

/* ---- the dump ---- */

static uint64_t now(void)
{
	struct timespec time;

	if (ticks)
		return __rdtsc();
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void put(const void *bytes, size_t size)
{
	fwrite(bytes, 1, size, dump);
}

static void put32(uint32_t n)
{
	put(&n, sizeof(n));
}

static void put64(uint64_t n)
{
	put(&n, sizeof(n));
}

static void put_head(uint32_t id, size_t size)
{
	put32(id);
	put32((uint32_t)(16 + size));
	put64(now());
}

static void put_header(void)
{
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(62);
	put32(v8 ? 0xdeadbeef : 0);
	put32((uint32_t)getpid());
	put64(now());
	put64(ticks);
}

static void put_line(const uint8_t *at, uint32_t line, const char *file)
{
	put64((uint64_t)(uintptr_t)at + (v8 ? 64 : 0));
	put32(line);
	put32(0);
	put(file, strlen(file) + 1);
}

/* Lines of a function: its beginning, and its two calls. */
static void put_lines(const uint8_t *at, const uint8_t *calls, size_t distance, uint32_t line, const char *file)
{
	put_head(2, 16 + 3 * 16 + strlen(file) + 1 + 2 * 2);
	put64((uint64_t)(uintptr_t)at);
	put64(3);
	put_line(at, line, file);
	put_line(calls, line + 1, "\xff");
	put_line(calls + distance, line + 3, "\xff");
}

static void put_load(const uint8_t *at, size_t size, const char *name)
{
	put_head(0, 40 + strlen(name) + 1 + size);
	put32((uint32_t)getpid());
	put32((uint32_t)gettid());
	put64((uint64_t)(uintptr_t)at);
	put64((uint64_t)(uintptr_t)at);
	put64(size);
	put64(++loads);
	put(name, strlen(name) + 1);
	put(at, size);
}

static void put_move(const uint8_t *from, const uint8_t *to, size_t size, uint64_t index)
{
	put_head(1, 48);
	put32((uint32_t)getpid());
	put32((uint32_t)gettid());
	put64((uint64_t)(uintptr_t)to);
	put64((uint64_t)(uintptr_t)from);
	put64((uint64_t)(uintptr_t)to);
	put64(size);
	put64(index);
}

/* Tables for unwinding, that a reader may ignore. */
static void put_unwinding(void)
{
	put_head(4, 24 + 8);
	put64(8);
	put64(8);
	put64(0);
	put64(UINT64_C(0x3b031b01));
}

/* ---- the code ---- */

static uint8_t *emit(uint8_t *to, const void *bytes, size_t size)
{
	memcpy(to, bytes, size);
	return to + size;
}

static uint8_t *emit_call(uint8_t *to, void (*function)(size_t))
{
	uint64_t address = (uint64_t)(uintptr_t)function;

	to = emit(to, "\x48\xb8", 2); /* mov $address,%rax */
	to = emit(to, &address, sizeof(address));
	return emit(to, "\xff\xd0", 2); /* call *%rax */
}

static uint8_t *emit_keep(uint8_t *to, uint32_t size)
{
	to = emit(to, "\xbf", 1); /* mov $size,%edi */
	to = emit(to, &size, sizeof(size));
	return emit_call(to, keep);
}

/* Two calls of keep(), for so many bytes and 16 more. Returns the code's size; *calls: where the calls' code begins. */
static size_t make(uint8_t *at, uint32_t size, uint8_t **calls)
{
	uint8_t *to = emit(at, "\x55\x48\x89\xe5", 4); /* push %rbp; mov %rsp,%rbp */

	*calls = to;
	to = emit_keep(to, size);
	to = emit_keep(to, size + 16);
	to = emit(to, "\x5d\xc3", 2); /* pop %rbp; ret */
	return (size_t)(to - at);
}

#define CALL_BYTES 17

static size_t load(uint8_t *at, uint32_t size, const char *name, uint32_t line, const char *file)
{
	uint8_t *calls;
	size_t bytes = make(at, size, &calls);

	put_unwinding();
	put_lines(at, calls, CALL_BYTES, line, file);
	put_load(at, bytes, name);
	return bytes;
}

/* Calls the code at `at` by way of code that never changes. */
static void run(uint8_t *outer, uint8_t *at)
{
	uint8_t *to = emit(outer, "\x55\x48\x89\xe5", 4);
	void (*function)(void);

	to = emit_call(to, (void (*)(size_t))(uintptr_t)at);
	emit(to, "\x5d\xc3", 2);
	memcpy(&function, &outer, sizeof(function));
	for (int i = 0; i < ROUNDS; i++)
		function();
	if (stops)
		raise(SIGSTOP);
}

static bool is_given(char **arguments, const char *word)
{
	for (; *arguments; arguments++)
		if (strcmp(*arguments, word) == 0)
			return true;
	return false;
}

int main(int count, char **arguments)
{
	uint8_t *x, *y, *z, *outer;
	size_t bytes;

	dump = count > 1 ? fopen(arguments[1], "w+") : NULL;
	code = mmap(NULL, 16 * PLACE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!dump || code == MAP_FAILED)
		return 2;
	ticks = is_given(arguments, "ticks");
	v8 = is_given(arguments, "v8");
	stops = is_given(arguments, "stops");
	put_header();
	fflush(dump);
	if (!is_given(arguments, "unmapped") &&
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		return 2;
	outer = code;
	x = code + PLACE;
	y = code + 2 * PLACE;
	z = code + 3 * PLACE;
	put_load(outer, 32, "outer");

	load(x, 100000, "alpha", 10, "alpha.jit");
	run(outer, x);
	bytes = load(x, 200000, "beta", 20, "some folder/beta.jit");
	run(outer, x);
	memcpy(y, x, bytes);
	put_move(x, y, bytes, loads);
	run(outer, y);
	load(x, 300000, "gamma<int, é>", 30, "gamma.jit");
	run(outer, x);
	make(z, 400000, &(uint8_t *){ NULL }); /* of which nothing is written */
	run(outer, z);
	load(x, 100000, "alpha", 10, "alpha.jit"); /* once more */
	run(outer, x);
	put_head(3, 0);
	fclose(dump);
	puts("done");
	return 0;
}
