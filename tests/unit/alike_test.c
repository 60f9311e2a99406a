/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a program makes anew, and names that it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/growth/same_stacks.h"

static void test_names(void **unused)
{
	static const char *const names[][2] = {
		{ "<generated 17>", "<generated #>" },
		{ "kernel_17_v2", "kernel_#_v#" },
		{ "forward", "forward" },
		{ "decade", "decade" },
		{ "layer12", "layer#" },
		{ "JS:*step /srv/app.js:12:7", "JS:*step /srv/app.js:12:7" },
		{ "f.:12x", "f.:#x" },
		{ "libkernel-3f9a0b1c.so", "libkernel-#.so" },
		{ "cq7x2ab9k.so", "#.so" },
		{ "core::run::h0123456789abcdef", "core::run::#" },
		{ "/tmp/tmpabcdefgh/plug.so", "/tmp/#/#.so" },
		{ "/var/tmp/x", "/var/tmp/#" },
		{ "/tmp/a.b/c", "/tmp/#/#" },
		{ "/tmp/.hidden", "/tmp/#" },
		{ "/dev/shm/a/b.so.1.2", "/dev/shm/#/#.#" },
		{ "/tmp/", "/tmp/" },
		{ "/usr/lib/libz.so.1.2.13", "/usr/lib/libz.so.#.#.#" },
		{ "", "" },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *name = tpa_alike_name(names[i][0]);

		assert_non_null(name);
		assert_string_equal(name, names[i][1]);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
