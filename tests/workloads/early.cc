// SPDX-License-Identifier: Apache-2.0
// Allocations before main and behind it: .preinit_array runs before any library's constructor, static initialisers
// before main, static and thread_local destructors behind exit.
#include "truth.h"

namespace
{

truth counts;

void *counted(size_t size)
{
	truth_alloc(&counts, size);
	return malloc(size);
}

void before_everything(int, char **, char **)
{
	for (int i = 0; i < 10; i++) {
		free(counted(50));
		truth_free(&counts, 50);
	}
	counted(51);
}

__attribute__((section(".preinit_array"), used)) void (*preinit)(int, char **, char **) = before_everything;

__attribute__((constructor(101))) void first_constructor()
{
	counted(52);
}

struct holder {
	void *p = counted(53);

	~holder()
	{
		free(p);
		truth_free(&counts, 53);
		counted(54);
		truth_write(&counts);
	}
};

holder global;

} // namespace

int main()
{
	static holder local;

	counted(55);
	TRUTH_SAY("early: done\n");
	return local.p ? 0 : 1;
}
