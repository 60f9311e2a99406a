/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dl HOW DIRECTORY: libraries that come and go.
 *   reuse     plugin_a leaks, is unloaded; plugin_b takes its address and leaks another amount. Twice.
 *   deepbind  a library loaded with RTLD_DEEPBIND finds libc's malloc before any preloaded one
 *   dlmopen   a library in two namespaces of their own, and another in the program's
 *   dlsym     malloc and free asked for by name
 *   origin    a library found by the $ORIGIN of the one that asks for it
 *   race      three threads load, use and unload four libraries each, plugin0.so to plugin11.so, while two allocate
 * The truth says whether the address was reused; of a race, how much the libraries of either kind leaked.
 */
#include "truth.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { A_SIZE = 1111, B_SIZE = 2222, A_COUNT = 10, B_COUNT = 20, RACERS = 3, LAPS = 300 };

typedef void *allocate_fn(size_t size);

static void *open_plugin(const char *directory, const char *name, int flags)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	handle = dlopen(path, RTLD_NOW | flags);
	if (!handle)
		truth_die(dlerror());
	return handle;
}

static allocate_fn *entry(void *handle, const char *name)
{
	allocate_fn *f;

	*(void **)&f = dlsym(handle, name);
	if (!f)
		truth_die(name);
	return f;
}

/* Returns the address at which the library was. */
static uintptr_t leak(const char *directory, const char *name, size_t size, int count)
{
	void *handle = open_plugin(directory, name, RTLD_LOCAL);
	struct link_map *map = handle;
	uintptr_t address = map->l_addr;

	for (int i = 0; i < count; i++)
		entry(handle, "plugin_allocate")(size);
	dlclose(handle);
	return address;
}

static void reuse(const char *directory)
{
	uintptr_t a = leak(directory, "libplugin_a.so", A_SIZE, A_COUNT);
	uintptr_t b = leak(directory, "libplugin_b.so", B_SIZE, B_COUNT);
	uintptr_t a2 = leak(directory, "libplugin_a.so", A_SIZE, A_COUNT);
	char text[64];

	truth_write_text("", text, (size_t)snprintf(text, sizeof(text), "{\"reused\": %d}\n", a == b && b == a2));
}

static void deepbind(const char *directory)
{
	void *handle = open_plugin(directory, "libplugin_a.so", RTLD_LOCAL | RTLD_DEEPBIND);
	void *p = entry(handle, "plugin_allocate")(A_SIZE);

	free(p);
	p = entry(handle, "plugin_allocate")(A_SIZE);
	free(p);
	if (!entry(open_plugin(directory, "libplugin_b.so", RTLD_LOCAL), "plugin_allocate")(B_SIZE))
		truth_die("malloc");
}

static void elsewhere(const char *directory)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/libplugin_a.so", directory);
	for (int i = 0; i < 2; i++) {
		void *handle = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);

		if (!handle)
			truth_die(dlerror());
		if (!entry(handle, "plugin_allocate")(A_SIZE))
			truth_die("malloc");
	}
	snprintf(path, sizeof(path), "%s/libplugin_b.so", directory);
	if (!entry(dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL), "plugin_allocate")(B_SIZE))
		truth_die("malloc");
}

static void by_name(void)
{
	void *libc;
	allocate_fn *found, *own;
	void (*found_free)(void *), (*own_free)(void *);

	if (dlerror())
		truth_die("somebody else's dlerror"); /* nothing was asked for yet */
	libc = dlopen("libc.so.6", RTLD_NOW);
	found = entry(RTLD_DEFAULT, "malloc");
	own = entry(libc, "malloc");
	*(void **)&found_free = dlsym(RTLD_DEFAULT, "free");
	*(void **)&own_free = dlsym(libc, "free");
	for (int i = 0; i < 10; i++) {
		void *p = found(A_SIZE), *q = own(B_SIZE);

		if (!p || !q)
			truth_die("malloc by name");
		found_free(p);
		own_free(q);
	}
	if (dlsym(RTLD_DEFAULT, "no_such_symbol") || !dlerror() || dlsym(RTLD_NEXT, "no_such_symbol") || !dlerror())
		truth_die("dlsym");
}

static const char *racing_directory;
static atomic_int racing = RACERS;

static void *race_libraries(void *argument)
{
	int first = *(int *)argument;

	for (int lap = 0; lap < LAPS; lap++) {
		int i = first + lap % 4;
		char name[24];

		snprintf(name, sizeof(name), "plugin%d.so", i);
		leak(racing_directory, name, i % 2 ? B_SIZE : A_SIZE, 2);
	}
	atomic_fetch_sub(&racing, 1);
	return argument;
}

static void *allocate_beside(void *argument)
{
	while (atomic_load(&racing))
		for (size_t size = 500; size < 600; size++)
			free(malloc(size));
	return argument;
}

/* Even libraries are of the first kind, and each thread has two of either. */
static void race(const char *directory)
{
	static int firsts[RACERS] = { 0, 4, 8 };
	pthread_t threads[RACERS + 2];
	char text[64];

	racing_directory = directory;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[RACERS + i], NULL, allocate_beside, NULL);
	for (int i = 0; i < RACERS; i++)
		pthread_create(&threads[i], NULL, race_libraries, &firsts[i]);
	for (int i = 0; i < RACERS + 2; i++)
		pthread_join(threads[i], NULL);
	truth_write_text("", text,
			 (size_t)snprintf(text, sizeof(text), "{\"a_bytes\": %d, \"b_bytes\": %d}\n",
					  RACERS * LAPS * A_SIZE, RACERS * LAPS * B_SIZE));
}

int main(int argc, char **argv)
{
	if (argc < 3)
		truth_die("usage: dl HOW DIRECTORY");
	if (!strcmp(argv[1], "reuse"))
		reuse(argv[2]);
	else if (!strcmp(argv[1], "deepbind"))
		deepbind(argv[2]);
	else if (!strcmp(argv[1], "dlmopen"))
		elsewhere(argv[2]);
	else if (!strcmp(argv[1], "dlsym"))
		by_name();
	else if (!strcmp(argv[1], "race"))
		race(argv[2]);
	else if (!strcmp(argv[1], "origin"))
		entry(open_plugin(argv[2], "liborigin.so", RTLD_LOCAL), "origin_open")(0);
	else
		truth_die("usage: dl HOW DIRECTORY");
	TRUTH_SAY("dl: done\n");
	return 0;
}
