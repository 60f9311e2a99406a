/* SPDX-License-Identifier: Apache-2.0 */
/* unique PLUGIN N: calls functions by tables that the plugin has too, and has it do so; twice, unloading it in between. */
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

#include "unique.h"

static int call_plugin(const char *path, int times)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*call)(int) = plugin ? reinterpret_cast<int (*)(int)>(dlsym(plugin, "unique_plugin")) : nullptr;
	int sum = 0;

	if (!call) {
		fprintf(stderr, "unique: %s\n", dlerror());
		exit(1);
	}
	for (int i = 0; i < times; i++)
		sum += call(i);
	dlclose(plugin); /* it stays: its symbols are the process's */
	return sum;
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[2]) : 1, sum = 0;

	for (int i = 0; i < times; i++)
		sum += UniqueTable<int>::methods[0](i) + UniqueTable<int>::methods[1](i) + (*unique_local())(i);
	for (int i = 0; i < 2 && argc > 1; i++)
		sum += call_plugin(argv[1], times);
	printf("%d\n", sum);
	return 0;
}
