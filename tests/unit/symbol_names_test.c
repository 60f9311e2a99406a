/* SPDX-License-Identifier: Apache-2.0 */
/* Names that no file of a module has: of code made at run time, of the kernel; and what demangling makes of linkage names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <sys/auxv.h>

#include "symbols/demangle.h"
#include "compiled.h"

static void jit_code(void **state)
{
	enum tpa_module_state module_state;
	struct made made;
	char path[300];
	FILE *out;

	(void)state;
	begin(&made);
	snprintf(path, sizeof(path), "%s/perf-4711.map", folder);
	out = fopen(path, "w");
	fputs("1000 100 old name\nnonsense\n2000 10 other\n1080 20 new name\n3000 zz bad\nffffffffffffffff ff wraps\n"
	      "4080 20 old part\n4000 100 new whole\n",
	      out);
	fclose(out);
	made.frames[1] = (struct tpa_frame){ .pc = 0x1001, .module = NULL, .flags = TPROF_FRAME_EXACT };
	made.frames[2] = (struct tpa_frame){ .pc = 0x1081, .module = NULL, .flags = TPROF_FRAME_EXACT };
	made.frames[3] = (struct tpa_frame){ .pc = 0x1100, .module = NULL, .flags = TPROF_FRAME_EXACT };
	made.frames[4] = (struct tpa_frame){ .pc = 0x1100, .module = NULL, .flags = 0 };
	made.frames[5] = (struct tpa_frame){ .pc = 0x4081, .module = NULL, .flags = TPROF_FRAME_EXACT };
	made.trace.frame_count = 6;
	made.module.path = "";
	assert_string_equal(name_at(&made, 1, folder, &module_state), "old name");
	assert_string_equal(name_at(&made, 2, folder, &module_state), "new name");
	assert_string_equal(name_at(&made, 3, folder, &module_state), "");
	assert_string_equal(name_at(&made, 4, folder, &module_state), "old name");
	assert_string_equal(name_at(&made, 5, folder, &module_state), "new whole");

	/* A link is not followed: in /tmp anyone may have put it there. */
	run("mv %s %s/map && ln -s map %s", path, folder, path);
	assert_string_equal(name_at(&made, 1, folder, &module_state), "");
}

/* No file, but this process's own one is the same. */
static void code_of_the_kernel(void **state)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	uint64_t function = vdso ? (uint64_t)dlsym(vdso, "__vdso_clock_gettime") : 0;
	enum tpa_module_state module_state;
	struct made made;

	(void)state;
	if (!start || !function)
		skip();
	begin(&made);
	made.module = (struct tpa_module){
		.id = 1, .bias = start, .start = start, .end = start + 0x2000, .path = "linux-vdso.so.1"
	};
	made.frames[1] = (struct tpa_frame){ .pc = function, .module = &made.module, .flags = TPROF_FRAME_EXACT };
	made.trace.frame_count = 2;
	assert_non_null(strstr(name_at(&made, 1, NULL, &module_state), "clock_gettime"));
	assert_int_equal(module_state, TPA_MODULE_OK);
}

static void demangled(const char *linkage, const char *expected)
{
	char *name = tpa_demangle(linkage);

	if (expected)
		assert_string_equal(name, expected);
	else
		assert_null(name);
	free(name);
}

static void mangled_names(void **state)
{
	(void)state;
	demangled("_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE",
		  "at::_ops::add_Tensor::call(at::Tensor const&, at::Tensor const&, c10::Scalar const&)");
	demangled("_Znwm", "operator new(unsigned long)");
	demangled("_Z5twiceIdET_S0_", "twice<double>(double)"); /* without the type it returns */
	demangled("_ZL6hiddeni.part.0", "hidden(int) [clone .part.0]");
	demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	demangled("_RNvC6_123foo3bar", "123foo::bar");
	demangled("_RNvMs_C3fooNtB4_3Bar3new", "<foo::Bar>::new");
	demangled("main", NULL);
	demangled("sgemm_", NULL);
	demangled("", NULL);
	demangled("_Z", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jit_code),
		cmocka_unit_test(code_of_the_kernel),
		cmocka_unit_test(mangled_names),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
