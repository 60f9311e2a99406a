/* SPDX-License-Identifier: Apache-2.0 */
/* Functions whose first instructions were moved do what they did before; those that can't be moved are refused, and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "code_execution.h"

/* Functions of one argument and one result. */
#define FILLED(name, filler, body)                                                                                     \
	__asm__(".text\n\t.p2align 4\n" #name ":\n\t" body "\n" #name "_end:\n\t.p2align 4, " filler                   \
		"\n\t.skip 16, " filler);                                                                              \
	extern const uint8_t name[], name##_end[];
#define FUNCTION(name, body) FILLED(name, "0xcc", body)

FUNCTION(plain, "pushq %rbx\n\tmovl %edi, %ebx\n\tleal 1(%rbx,%rbx), %eax\n\tpopq %rbx\n\tret")
FUNCTION(with_mark, "endbr64\n\tmovl %edi, %eax\n\tshll $3, %eax\n\tret")
FUNCTION(reads_data, "movl code_value(%rip), %eax\n\taddl %edi, %eax\n\tret")
FUNCTION(writes_constant,
	 "movl $0x12345678, code_written(%rip)\n\tmovl code_written(%rip), %eax\n\taddl %edi, %eax\n\tret")
FUNCTION(takes_address, "leaq takes_address(%rip), %rax\n\taddq %rdi, %rax\n\tret")
FUNCTION(jumps_if, "testl %edi, %edi\n\tjs 1f\n\tleal 5(%rdi), %eax\n\tret\n1:\tmovl %edi, %eax\n\tnegl %eax\n\tret")
FUNCTION(jumps_if_far, "testl %edi, %edi\n\tjs code_negative\n\tleal 5(%rdi), %eax\n\tret")
FUNCTION(jumps, "jmp 1f\n\tud2\n\tud2\n\tud2\n1:\tleal 7(%rdi), %eax\n\tret")
FUNCTION(jumps_away, "jmp code_negative")
FUNCTION(jumps_by_pointer, "jmp *code_pointer(%rip)")
FUNCTION(calls_first, "call code_negative\n\tincl %eax\n\tret")
FUNCTION(calls_after_push, "pushq %rbx\n\tcall code_negative\n\tincl %eax\n\tpopq %rbx\n\tret")
FUNCTION(calls_by_pointer, "pushq %rbx\n\tcall *code_pointer(%rip)\n\tincl %eax\n\tpopq %rbx\n\tret")
FUNCTION(returns_where, "pushq %rbx\n\tcall code_return\n\tpopq %rbx\n\tret")
FUNCTION(recursive,
	 "pushq %rbx\n\tmovl %edi, %ebx\n\tmovl $1, %eax\n\tcmpl $1, %edi\n\tjle 1f\n\tdecl %edi\n\tcall recursive\n\t"
	 "addl %ebx, %eax\n1:\tpopq %rbx\n\tret")
FUNCTION(short_with_filler, "leal 3(%rdi), %eax\n\tret")
FILLED(short_with_zeros, "0", "leal 4(%rdi), %eax\n\tret")
FUNCTION(vectors, "vmovd %edi, %xmm0\n\tvpaddd code_lanes(%rip), %xmm0, %xmm0\n\tvmovd %xmm0, %eax\n\tret")
__asm__(".text\ncode_negative:\n\tmovl %edi, %eax\n\tnegl %eax\n\tret\ncode_return:\n\tmovq (%rsp), %rax\n\tret\n"
	".data\n\t.p2align 4\ncode_lanes:\t.long 41, 2, 3, 4\ncode_pointer:\t.quad code_negative\n"
	"code_value:\t.long 1234\ncode_written:\t.long 0\n.text");

struct moved_case {
	const char *name;
	const uint8_t *start, *end;
};

#define CASE(name)                                                                                                     \
	{                                                                                                              \
#name, name, name##_end                                                                                \
	}

static enum tpc_code_refusal move_to(const struct moved_case *it, uint8_t *to, bool may_push,
				     struct tpc_code_detour *detour)
{
	struct tpc_code_function function = { it->start, (size_t)(it->end - it->start),
					      (size_t)(it->end - it->start) + 16, (uintptr_t)it->start };

	return tpc_code_move(&decoder, &function, (uintptr_t)to, (uintptr_t)it->start, may_push, detour);
}

static void test_moved_code_does_the_same(void **state)
{
	static const struct moved_case cases[] = {
		CASE(plain),
		CASE(with_mark),
		CASE(reads_data),
		CASE(writes_constant),
		CASE(takes_address),
		CASE(jumps_if),
		CASE(jumps_if_far),
		CASE(jumps),
		CASE(jumps_away),
		CASE(jumps_by_pointer),
		CASE(calls_first),
		CASE(calls_after_push),
		CASE(calls_by_pointer),
		CASE(returns_where),
		CASE(recursive),
		CASE(short_with_filler),
		CASE(short_with_zeros),
		CASE(vectors),
	};
	uint8_t *area = executable(), *to = area;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++, to += TPC_CODE_MOVED_MAX) {
		struct tpc_code_detour detour;
		enum tpc_code_refusal refusal = move_to(&cases[i], to, true, &detour);

		if (refusal)
			fail_msg("%s: %s", cases[i].name, tpc_code_refusal_text(refusal));
		memcpy(to, detour.code, detour.bytes);
		for (int64_t argument = -40; argument < 40; argument += 7) {
			uint64_t (*was)(int64_t) = (uint64_t(*)(int64_t))(uintptr_t)cases[i].start;
			uint64_t (*is)(int64_t) = (uint64_t(*)(int64_t))(uintptr_t)(to + TPC_CODE_MOVED_AT);
			uint64_t (*directly)(int64_t) =
				(uint64_t(*)(int64_t))(uintptr_t)(to + TPC_CODE_MOVED_AT - TPC_CODE_DIRECT_BYTES);

			assert_int_equal(was(argument), is(argument));
			assert_int_equal(was(argument), directly(argument));
		}
	}
}

/* A patched copy: its entry leads to the stub, which leads to the moved instructions, which lead back. */
static void test_patched_function(void **state)
{
	static const struct moved_case cases[] = { CASE(plain), CASE(with_mark), CASE(jumps_if),
						   CASE(short_with_filler) };
	uint8_t *area = executable();
	/* movq %r11, %rdx; movq DIRECT, %r11; jmp *%r11 */
	uint8_t stub[] = { 0x4c, 0x89, 0xda, 0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xe3 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t *at = area + 1024 * i, *to = at + 256, *stub_at = at + 512;
		size_t size = (size_t)(cases[i].end - cases[i].start);
		struct tpc_code_function function = { at, size, size + 16, (uintptr_t)at };
		uint64_t registers[REGISTERS] = { 0 };
		struct tpc_code_detour detour;
		uintptr_t direct;

		memcpy(at, cases[i].start, size + 16);
		assert_int_equal(tpc_code_move(&decoder, &function, (uintptr_t)to, (uintptr_t)stub_at, true, &detour),
				 TPC_CODE_GOOD);
		memcpy(to, detour.code, detour.bytes);
		direct = (uintptr_t)to + TPC_CODE_MOVED_AT - TPC_CODE_DIRECT_BYTES;
		memcpy(stub + 5, &direct, sizeof(direct));
		memcpy(stub_at, stub, sizeof(stub));
		memcpy(at + detour.patch_at, detour.patch, detour.patch_bytes);
		if (detour.patch_at)
			assert_memory_equal(at, "\xf3\x0f\x1e\xfa", 4);
		registers[4] = 21;
		registers[8] = 0x1122334455667788; /* %r11 */
		call_with(at, registers);
		assert_int_equal((int)registers[0], ((int (*)(int))(uintptr_t)cases[i].start)(21));
		assert_int_equal(registers[2], 0x1122334455667788); /* it passed through the stub */
		assert_int_equal(registers[8], 0x1122334455667788); /* which left it as it was */
	}
}

FUNCTION(too_short, "xorl %eax, %eax\n\tret\n\tmovl %edi, %eax\n\tret")
FUNCTION(no_instruction, "movl %edi, %eax\n\tmovl %eax, %ecx\n\tmovl %ecx, %edx\n\tret\n\t.byte 6")
FUNCTION(loops_to_start, "decl %edi\n\tmovl %edi, %eax\n\tmovl %edi, %ecx\n\tjnz loops_to_start\n\tret")
FUNCTION(jumps_into, "movl %edi, %eax\n1:\tmovl %eax, %ecx\n\tmovl %edi, %eax\n\tcmpl $9, %ecx\n\tjne 1b\n\tret")
FUNCTION(calls_into, "movl %edi, %eax\n1:\tmovl %eax, %ecx\n\tmovl %edi, %eax\n\tcall 1b\n\tret")
FUNCTION(counts_down, "jrcxz 1f\n\tmovl %edi, %eax\n\tmovl %edi, %ecx\n1:\tret")
FUNCTION(loops, "movl %edi, %ecx\n\tloop 1f\n\tmovl %edi, %eax\n1:\tret")
FUNCTION(breakpoint, "int3\n\tmovl %edi, %eax\n\tmovl %edi, %ecx\n\tret")
FUNCTION(by_32_bits, "movl 4(%eip), %eax\n\tret")
FUNCTION(call_in_front, "call *%rax\n\tmovl %edi, %eax\n\tmovl %edi, %ecx\n\tret")
FUNCTION(call_on_stack, "pushq %rbx\n\tcall *8(%rsp)\n\tpopq %rbx\n\tret")
FUNCTION(transaction, "xbegin 1f\n\txend\n1:\tret")

static void test_refused(void **state)
{
	static const struct {
		struct moved_case it;
		enum tpc_code_refusal refusal;
	} cases[] = {
		{ CASE(too_short), TPC_CODE_TOO_SHORT },
		{ CASE(no_instruction), TPC_CODE_UNKNOWN },
		{ CASE(loops_to_start), TPC_CODE_JUMPED_INTO },
		{ CASE(jumps_into), TPC_CODE_JUMPED_INTO },
		{ CASE(calls_into), TPC_CODE_JUMPED_INTO },
		{ CASE(counts_down), TPC_CODE_FIXED },
		{ CASE(loops), TPC_CODE_FIXED },
		{ CASE(breakpoint), TPC_CODE_FIXED },
		{ CASE(by_32_bits), TPC_CODE_FIXED },
		{ CASE(call_in_front), TPC_CODE_CALLS },
		{ CASE(call_on_stack), TPC_CODE_FIXED },
		{ CASE(transaction), TPC_CODE_FIXED },
	};
	struct tpc_code_detour detour;
	uint8_t *area = executable();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct moved_case it = cases[i].it;
		enum tpc_code_refusal refusal;

		if (it.start == too_short) /* what follows is another function */
			it.end = it.start + 3;
		refusal = move_to(&it, area, true, &detour);
		if (refusal != cases[i].refusal)
			fail_msg("%s: %s", it.name, tpc_code_refusal_text(refusal));
	}
	assert_int_equal(move_to(&(struct moved_case)CASE(calls_first), area, false, &detour), TPC_CODE_CALLS);
	assert_int_equal(move_to(&(struct moved_case)CASE(plain), area + (UINT64_C(1) << 33), true, &detour),
			 TPC_CODE_FAR);
	for (enum tpc_code_refusal i = TPC_CODE_TOO_SHORT; i < TPC_CODE_REFUSALS; i++)
		assert_true(strlen(tpc_code_refusal_text(i)) > 10);
}

/* Each place of a detour names the instruction whose state is there. */
static void test_places(void **state)
{
	struct tpc_code_detour detour;
	uint8_t *area = executable();

	(void)state;
	assert_int_equal(move_to(&(struct moved_case)CASE(calls_after_push), area, true, &detour), TPC_CODE_GOOD);
	assert_int_equal(detour.place_count, 5);
	assert_int_equal(detour.places[0].function, 0); /* the way to the stub */
	assert_int_equal(detour.places[1].function, 0); /* push */
	assert_int_equal(detour.places[1].detour, TPC_CODE_MOVED_AT + 4);
	assert_int_equal(detour.places[2].function, 1); /* the return address is pushed */
	assert_int_equal(detour.places[2].detour, TPC_CODE_MOVED_AT + 5);
	assert_int_equal(detour.places[3].function, TPC_CODE_NOWHERE);
	assert_int_equal(detour.places[4].function, 6); /* the way back */
}

/* Against one look at each span and each offset. */
enum { BYTES = 4000, SPANS = 40 };

static uint32_t draw(void)
{
	static uint32_t seed = 7;

	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* Where a span is jumped into: by jumps; and by what only looks like one, within a constant. */
struct looks {
	bool jumped[SPANS], seems[SPANS];
};

static void note(bool into[SPANS], size_t from, int32_t distance)
{
	int64_t target = (int64_t)from + distance;

	for (size_t i = 0; i < SPANS; i++)
		if (target > (int64_t)(100 * i + 3) && target < (int64_t)(100 * i + 9))
			into[i] = true;
}

/* An instruction at `at`, of at most 10 bytes; returns its length. */
static size_t put(uint8_t *code, size_t at, struct looks *looks)
{
	static const uint8_t others[][8] = {
		{ 1, 0x90 }, { 3, 0x48, 0x89, 0xc3 },	 { 4, 0x48, 0xc1, 0xe8, 9 }, { 2, 0x31, 0xc0 },
		{ 1, 0x55 }, { 4, 0x48, 0x83, 0xec, 8 }, { 5, 0x25, 0xf8, 0xff }
	};
	int32_t distance = (int32_t)(draw() % BYTES) - (int32_t)at - 5;
	uint32_t which = draw() % 20;

	if (which == 0 || which == 1) { /* call, jmp */
		code[at] = (uint8_t)(0xe8 + which);
		memcpy(code + at + 1, &distance, sizeof(distance));
		note(looks->jumped, at + 5, distance);
		return 5;
	}
	if (which == 2) { /* jcc */
		code[at] = 0x0f;
		code[at + 1] = (uint8_t)(0x80 + draw() % 16);
		memcpy(code + at + 2, &distance, sizeof(distance));
		note(looks->jumped, at + 6, distance);
		return 6;
	}
	if (which == 3) { /* movabs of a constant that contains a jump */
		memcpy(code + at, "\x49\xbb\x01\xe8", 4);
		memcpy(code + at + 4, &distance, sizeof(distance));
		memcpy(code + at + 8, "\x11\x22", 2);
		note(looks->seems, at + 8, distance);
		return 10;
	}
	which %= sizeof(others) / sizeof(*others);
	memcpy(code + at, others[which] + 1, others[which][0]);
	return others[which][0];
}

/* Each jump is found, and few of those that only look like one are taken for it. */
static void test_jumps_of_others(void **state)
{
	static uint8_t code[BYTES + 10];
	struct tpc_code_span spans[SPANS];
	uint32_t jumped = 0, seeming = 0, wrong = 0;

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		struct looks looks = { { false }, { false } };

		for (size_t at = 0; at < BYTES;)
			at += put(code, at, &looks);
		for (size_t i = 0; i < SPANS; i++)
			spans[i] = (struct tpc_code_span){ 100 * i + 3, 100 * i + 9, false };
		tpc_code_find_jumps(&decoder, code, sizeof(code), 0, spans, SPANS);
		for (size_t i = 0; i < SPANS; i++) {
			assert_true(spans[i].jumped_into || !looks.jumped[i]);
			jumped += looks.jumped[i];
			seeming += looks.seems[i] && !looks.jumped[i];
			wrong += spans[i].jumped_into && !looks.jumped[i];
		}
	}
	assert_in_range(jumped, 100, 4000);
	assert_in_range(seeming, 100, 4000);
	assert_in_range(wrong, 0, seeming / 20);
	tpc_code_find_jumps(&decoder, code, BYTES, 0, spans, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved_code_does_the_same),
		cmocka_unit_test(test_patched_function),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_jumps_of_others),
	};

	return cmocka_run_group_tests_name("code_move", tests, load_decoder, NULL);
}
