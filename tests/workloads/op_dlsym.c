/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_dlsym HOW TIMES: libsignatures.so's functions, asked for by their names.
 *   handle    op_none by its object's handle
 *   next      by RTLD_NEXT, as a library that passes calls on does
 *   pointer   op_variable, which is called like a function: it must be a variable still
 * and after each one op_none() through a slot.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int plain_fn(void);

int op_none(void);

static void *asked(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return found;
}

static plain_fn *function(void *handle, const char *name)
{
	plain_fn *f;

	*(void **)&f = asked(handle, name);
	return f;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int times = argc > 2 ? atoi(argv[2]) : 1, sum = 0;
	void *library = dlopen("libsignatures.so", RTLD_NOW);

	if (!library)
		return 1;
	for (int i = 0; i < times; i++) {
		if (!strcmp(how, "handle"))
			sum += function(library, "op_none")();
		else if (!strcmp(how, "next"))
			sum += function(RTLD_NEXT, "op_none")();
		else
			sum += *(int *)asked(library, "op_variable");
		sum += op_none();
	}
	if (dlsym(library, "no_such_function") || !dlerror())
		return 1;
	printf("op_dlsym: %d\n", sum);
	return 0;
}
