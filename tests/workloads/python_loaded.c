/* SPDX-License-Identifier: Apache-2.0 */
/* python_loaded LIBRARY PROGRAM...: a host that loads the interpreter when it wants one, and runs a program in each of its lives. */
#include <dlfcn.h>
#include <stdio.h>

static void *library;

static void (*find(const char *name))(void)
{
	void *found = dlsym(library, name);

	if (!found)
		fprintf(stderr, "%s\n", dlerror());
	return (void (*)(void))found;
}

int main(int argc, char **argv)
{
	void (*begin)(int);
	int (*run)(const char *), (*end)(void);

	library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	if (!library)
		return 1;
	begin = (void (*)(int))find("Py_InitializeEx");
	run = (int (*)(const char *))find("PyRun_SimpleString");
	end = (int (*)(void))find("Py_FinalizeEx");
	for (int i = 2; i < argc; i++) {
		begin(0);
		if (run(argv[i]) || end())
			return 1;
	}
	return 0;
}
