/* SPDX-License-Identifier: Apache-2.0 */
/* Names of torch's operators from a library's schemas, which are compiled for the purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbols/schemas.h"
#include "compiled.h"

static const char texts[] =
	"extern const char *const texts[] = {\n"
	"\"select.int(Tensor(a) self, int dim, int index) -> Tensor(a)\",\n"
	"\"aten::add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)\",\n"
	"\"_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor\",\n"
	"\"special_erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\",\n" /* erf.out is its end */
	"\"logit_backward.grad_input(Tensor self) -> Tensor\",\n"
	"\"other_logit_backward_grad.input(Tensor self) -> Tensor\",\n" /* a whole one is better */
	"\"either.or_not(int a) -> int\",\n"
	"\"either_or.not(int a) -> int\",\n"
	"\"called.with(int a)\",\n"
	"};\n";

static void make_library(struct made *made)
{
	char path[200];
	FILE *out;

	begin(made);
	snprintf(path, sizeof(path), "%s/schemas.cc", folder);
	out = fopen(path, "w");
	fputs(texts, out);
	fclose(out);
	snprintf(made->path, sizeof(made->path), "%s/libtorch_cpu.so.1", folder);
	run("${CXX:-g++} -O2 -fPIC -shared -Wl,--build-id -o %s %s", made->path, path);
	read_build_id(made);
}

static void find(struct made *made, struct tpa_schema *schemas)
{
	static const char *const functions[] = { "",
						 "select_int",
						 "add__Tensor",
						 "_cast_Byte",
						 "erf_out",
						 "logit_backward_grad_input",
						 "either_or_not",
						 "called_with",
						 "addmm" };

	memset(schemas, 0, 9 * sizeof(*schemas));
	for (int i = 0; i < 9; i++)
		snprintf(schemas[i].function, sizeof(schemas[i].function), "%s", functions[i]);
	assert_true(tpa_schemas_in(&made->module));
	tpa_schemas_find(&made->module, NULL, schemas, 9);
}

static void found_names(void **state)
{
	static const char *const names[] = { "",	   "select.int", "add_.Tensor",
					     "_cast_Byte", "erf.out",	 "logit_backward.grad_input",
					     "",	   "",		 "" };
	struct tpa_schema schemas[9];
	struct made made;

	(void)state;
	make_library(&made);
	find(&made, schemas);
	for (int i = 0; i < 9; i++)
		assert_string_equal(schemas[i].name, names[i]);
}

/* Another build's names may be others. */
static void another_build(void **state)
{
	struct tpa_schema schemas[9];
	struct made made;

	(void)state;
	make_library(&made);
	made.build_id[0] ^= 1;
	find(&made, schemas);
	assert_string_equal(schemas[1].name, "");
	made.build_id[0] ^= 1;
	unlink(made.path);
	find(&made, schemas);
	assert_string_equal(schemas[1].name, "");
}

static void where(void **state)
{
	struct tpa_module module = { .path = "/opt/torch/lib/libtorch_cpu-1a2b.so" };

	(void)state;
	assert_true(tpa_schemas_in(&module));
	module.path = "libtorch.so";
	assert_true(tpa_schemas_in(&module));
	module.path = "/opt/libtorch_cpu/lib/libtorch_python.so";
	assert_false(tpa_schemas_in(&module));
	module.path = "";
	assert_false(tpa_schemas_in(&module));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_names),
		cmocka_unit_test(another_build),
		cmocka_unit_test(where),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
