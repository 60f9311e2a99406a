/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bindings HOW: calls whose target is not what their name says at first sight; prints what they return.
 *   plt       this program is not position-independent: its PLT entry of bind_call() is the function's address, for its
 *             library too. Five ways to call it, ten times each
 *   versions  the old version of a function, and the default one
 *   deep      a library that looks for symbols in its own scope first, and is bound as it calls
 *   shallow   the same library, without that
 *   data      a constant, by its library's pointer to it, and asked for by its name
 *   errors    what dlerror() has to say after a dlclose that fails, and one that does not
 *   asked     both versions, by their names and by none, of the library and of all that is loaded
 *   told      what dladdr() says of a function that dlsym() gave, and of two of libc's
 *   none      a pointer that was made NULL, and a weak symbol that was not there when it was asked for
 */
#include "bindings.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__asm__(".symver bind_old, bind_versioned@BIND_1");
int bind_old(void);

static int call(void *handle, const char *name)
{
	int (*function)(void);

	*(void **)&function = dlsym(handle, name);
	return function ? function() : -1;
}

static void *load(const char *path, int flags)
{
	void *handle = dlopen(path, flags);

	if (!handle)
		printf("%s\n", dlerror());
	return handle;
}

static void call_by_plt(void *user)
{
	int (*volatile function)(void) = bind_call;
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += function() + bind_call() + call(user, "bind_by_table") + call(user, "bind_by_address") +
		       call(RTLD_DEFAULT, "bind_call");
	printf("plt %d %d\n", sum, function == bind_call);
}

static void call_none(void *user)
{
	load("libbind_late.so", RTLD_NOW | RTLD_GLOBAL);
	dlclose(load("libplugin_a.so", RTLD_NOW | RTLD_LOCAL)); /* after it all objects are looked at again */
	printf("none %d %d\n", call(user, "bind_off"), call(user, "bind_weak"));
}

static void close_twice(void)
{
	void *handle = load("libc.so.6", RTLD_LAZY);
	int first = dlclose(handle);
	const char *error = dlerror();

	printf("errors %d %s", first, error ? error : "none");
	first = dlclose(handle);
	error = dlerror();
	printf(", %d %s\n", first, error ? error : "none");
}

static int call_version(void *handle, const char *version)
{
	int (*function)(void);

	*(void **)&function = dlvsym(handle, "bind_versioned", version);
	return function ? function() : -1;
}

static void ask(void)
{
	void *library = load("libbind_one.so", RTLD_NOW);

	printf("asked %d %d %d, %d %d %d, %d\n", call(library, "bind_versioned"), call_version(library, "BIND_1"),
	       call_version(library, "BIND_2"), call(RTLD_DEFAULT, "bind_versioned"),
	       call_version(RTLD_DEFAULT, "BIND_1"), call_version(RTLD_DEFAULT, "BIND_2"),
	       call_version(RTLD_DEFAULT, "BIND_3"));
}

static void tell(void)
{
	void *addresses[] = { dlsym(load("libbind_one.so", RTLD_NOW), "bind_lazy"), (void *)sleep, (void *)poll };

	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		Dl_info info = { 0 }, more = { 0 };
		const ElfW(Sym) *symbol = NULL;
		const struct link_map *object = NULL;
		const char *name = NULL;
		int found = dladdr(addresses[i], &info);

		dladdr1(addresses[i], &more, (void **)&symbol, RTLD_DL_SYMENT);
		found += dladdr1(addresses[i], &more, (void **)&object, RTLD_DL_LINKMAP);
		name = info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
		printf("%s%d %s %s %d %d %d", i ? ", " : "told ", found, name ? name : "-",
		       info.dli_sname ? info.dli_sname : "-", info.dli_saddr == addresses[i], symbol != NULL,
		       object && object->l_name == more.dli_fname);
	}
	puts("");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int deep = strcmp(how, "deep") == 0 ? RTLD_DEEPBIND : 0;
	void *user = load("libbind_user.so", RTLD_LAZY | RTLD_LOCAL | deep);

	if (!user)
		return 1;
	if (strcmp(how, "plt") == 0)
		call_by_plt(user);
	else if (strcmp(how, "versions") == 0)
		printf("versions %d %d\n", bind_old(), bind_versioned());
	else if (strcmp(how, "data") == 0)
		printf("data %d %d\n", call(user, "bind_by_data"),
		       *(const int *)dlsym(load("libbind_one.so", RTLD_NOW), "bind_constant"));
	else if (strcmp(how, "asked") == 0)
		ask();
	else if (strcmp(how, "told") == 0)
		tell();
	else if (strcmp(how, "none") == 0)
		call_none(user);
	else if (strcmp(how, "errors") == 0)
		close_twice();
	else
		printf("%s %d %d %d %d\n", how, bind_lazy(), call(user, "bind_user"), call(user, "bind_by_text"),
		       call(user, "bind_by_asking"));
	return 0;
}
