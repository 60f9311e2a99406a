/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a symbol table's names an address has: of a library without any other word of its functions. By hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compiled.h"

/* Each place is 16 bytes. A name without a size reaches to the next one, or to its section's end. */
static const char assembly[] = ".macro name place, at, bind, size=16, type=@function\n"
			       "\\bind \\place\n"
			       ".set \\place, start + \\at\n"
			       ".type \\place, \\type\n"
			       ".size \\place, \\size\n"
			       ".endm\n"
			       ".section other, \"ax\"\n"
			       ".skip 64, 0x90\n"
			       ".text\n"
			       "start: .skip 256, 0x90\n"
			       "name one_global, 0, .global\n"
			       "name one_weak, 0, .weak\n"
			       "name one, 0, .local\n"
			       "name two_weak, 16, .weak\n"
			       "name two, 16, .local\n"
			       "name three_underscores_less, 32, .global\n"
			       "name _three, 32, .global\n"
			       "name __t, 32, .global\n"
			       "name _four_underscores, 48, .global\n"
			       "name __f, 48, .global\n"
			       "name five_long, 64, .global\n"
			       "name five, 64, .global\n"
			       "name six_sized, 80, .global\n"
			       "name six, 80, .global, 0\n"
			       "name around, 96, .global, 48\n"
			       "name within, 112, .global\n"
			       "name label, 132, .local, 0, @notype\n"
			       "name unsized, 144, .global, 0\n"
			       "name $mark, 148, .local, 0, @notype\n"
			       "name .mark, 150, .local, 0, @notype\n"
			       "name next_unsized, 160, .global, 0\n"
			       "name short, 176, .global, 4\n"
			       "name sh, 176, .global, 0\n"
			       "name seven_function, 192, .local\n"
			       "name seven, 192, .global, 16, @notype\n"
			       "name last, 240, .global, 0\n"
			       ".data\n"
			       "thing: .quad 0\n";

static const struct {
	uint32_t at;
	const char *name;
} expected[] = {
	{ 0, "one_global" }, /* global before weak before local, */
	{ 16, "two_weak" },
	{ 32, "three_underscores_less" }, /* few underscores, */
	{ 48, "_four_underscores" },
	{ 64, "five" },	     /* short ones; */
	{ 80, "six_sized" }, /* but a size before all that */
	{ 95, "six_sized" },
	{ 96, "around" },
	{ 112, "within" },
	{ 127, "within" },
	{ 128, "around" },
	{ 133, "around" }, /* which says that it is there; the label does not */
	{ 143, "around" },
	{ 144, "unsized" },
	{ 151, "unsized" }, /* marks of the assembler's are no names */
	{ 159, "unsized" },
	{ 160, "next_unsized" },
	{ 176, "short" },
	{ 179, "short" },
	{ 180, "" }, /* next_unsized ended where `short` begins */
	{ 192, "seven_function" },
	{ 239, "" },
	{ 240, "last" },
	{ 255, "last" },
	{ 256, "" }, /* another section's */
};

static void names(void **state)
{
	static const size_t count = sizeof(expected) / sizeof(expected[0]);
	enum tpa_module_state module_state;
	struct made made;
	char path[200];
	uint64_t start;
	FILE *out;

	(void)state;
	begin(&made);
	snprintf(path, sizeof(path), "%s/names.s", folder);
	out = fopen(path, "w");
	fputs(assembly, out);
	fclose(out);
	snprintf(made.path, sizeof(made.path), "%s/names.so", folder);
	run("${CC:-gcc} -nostdlib -shared -Wl,--build-id -o %s %s", made.path, path);
	read_build_id(&made);
	start = address_of(&made, "start");
	for (size_t i = 0; i < count; i++)
		add_frame(&made, start + expected[i].at, TPROF_FRAME_EXACT);
	for (uint32_t i = 0; i < count; i++)
		assert_string_equal(name_at(&made, i + 1, NULL, &module_state), expected[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(names) };

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
