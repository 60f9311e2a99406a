/* SPDX-License-Identifier: Apache-2.0 */
/* libunique.so and libunique_plugin.so: the functions, and a function of the plugin's that calls them by its own tables. */
#include "unique.h"

#ifdef PLUGIN

extern "C" int unique_plugin(int x);

extern "C" int unique_plugin(int x)
{
	return UniqueTable<int>::methods[0](x) + UniqueTable<int>::methods[1](x) + (*unique_local())(x);
}

#else

extern "C" int unique_one(int x)
{
	return x + 1;
}

extern "C" int unique_other(int x)
{
	return x + 2;
}

#endif
