/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the static parts of ITT and NVTX do in a program that uses them: load the collector that the environment names, hand
 * it their tables, and call through these. `collectors N`: N times a task in a task, and the same with ranges.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

/* ---- ITT ---- */

#define MANY 100

struct itt_id {
	unsigned long long d1, d2, d3;
};

struct itt_domain {
	volatile int flags;
	const char *name;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_domain *next;
};

struct itt_string {
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_string *next;
};

static struct itt_domain *(*itt_domain_create)(const char *);
static void (*itt_task_begin)(const struct itt_domain *, struct itt_id, struct itt_id, struct itt_string *);
static void (*itt_task_begin_fn)(const struct itt_domain *, struct itt_id, struct itt_id, void *);
static void (*itt_task_end)(const struct itt_domain *);
static void (*itt_marker)(const struct itt_domain *, struct itt_id, struct itt_string *, int);
static void (*itt_thread_set_name)(const char *);
static void (*itt_unknown)(void);

static struct itt_function {
	const char *name;
	void **pointer;
	void *first, *nothing;
	int group;
} itt_functions[] = {
	{ "__itt_domain_create", (void **)&itt_domain_create, 0, 0, 1 },
	{ "__itt_task_begin", (void **)&itt_task_begin, 0, 0, 1 },
	{ "__itt_task_begin_fn", (void **)&itt_task_begin_fn, 0, 0, 1 },
	{ "__itt_task_end", (void **)&itt_task_end, 0, 0, 1 },
	{ "__itt_marker", (void **)&itt_marker, 0, 0, 1 },
	{ "__itt_thread_set_name", (void **)&itt_thread_set_name, 0, 0, 1 },
	{ "__itt_of_another_time", (void **)&itt_unknown, 0, 0, 1 },
	{ NULL, NULL, NULL, NULL, 0 },
};

static struct itt_global {
	unsigned char magic[8];
	unsigned long major, minor, build;
	volatile long api, mutex_made, counter;
	pthread_mutex_t mutex;
	void *library, *error;
	const char **path;
	struct itt_function *functions;
	struct itt_global *next;
	void *threads;
	struct itt_domain *domains;
	struct itt_string *strings;
	int state;
} itt_global = { .major = 3, .functions = itt_functions };

static int itt_start(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	void (*init)(struct itt_global *, int) = NULL;

	if (library)
		*(void **)&init = dlsym(library, "__itt_api_init");
	if (init)
		init(&itt_global, 0xffff);
	return itt_task_begin != NULL;
}

/* Each has a task of its own, and is the same when it is asked for again. */
static void itt_many_domains(void)
{
	static struct itt_string task = { .text = "itt in one of many" };
	struct itt_domain *domains[MANY];
	struct itt_id none = { 0, 0, 0 };
	char name[32];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "domain %d", i);
		domains[i] = itt_domain_create(name);
		itt_task_begin(domains[i], none, none, &task);
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "domain %d", i);
		if (itt_domain_create(name) != domains[i])
			abort();
	}
	for (int i = MANY - 1; i >= 0; i--)
		itt_task_end(domains[i]);
}

static void itt(int times)
{
	static struct itt_string outer = { .text = "itt outer" }, inner = { .text = "itt inner" },
				 here = { .text = "itt here" }, other = { .text = "itt other" };
	struct itt_domain *domain;
	struct itt_id none = { 0, 0, 0 };

	if (!itt_start())
		return;
	domain = itt_domain_create("my domain");
	if (!domain->flags || strcmp(domain->name, "my domain") != 0 || itt_domain_create("my domain") != domain ||
	    itt_unknown)
		abort();
	itt_thread_set_name("by itt");
	for (int i = 0; i < times; i++) {
		itt_task_begin(domain, none, none, &outer);
		itt_task_begin(domain, none, none, &inner);
		itt_task_end(domain);
		if (itt_task_begin_fn) /* a macro of the API's asks that */
			itt_task_begin_fn(domain, none, none, (void *)itt_start);
		itt_task_end(domain);
		itt_task_end(domain);
	}
	itt_task_begin(itt_domain_create("other"), none, none, &other);
	itt_task_end(domain); /* of which none has begun */
	itt_task_end(itt_domain_create("other"));
	itt_task_end(domain);
	itt_marker(domain, none, &here, 1);
	itt_many_domains();
}

/* ---- NVTX ---- */

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

static void (*mark_a)(const char *);
static int (*push_a)(const char *);
static int (*push_w)(const wchar_t *);
static int (*push_ex)(const struct attributes *);
static int (*pop)(void);
static void (*name_thread)(uint32_t, const char *);
static uint64_t (*range_start)(const char *);
static void *(*domain_create)(const char *);
static void *(*register_string)(void *, const char *);
static int (*domain_push)(void *, const struct attributes *);
static int (*domain_pop)(void *);

static void **core[16] = {
	[2] = (void **)&mark_a,	 [5] = (void **)&range_start, [8] = (void **)&push_ex,	    [9] = (void **)&push_a,
	[10] = (void **)&push_w, [11] = (void **)&pop,	      [14] = (void **)&name_thread,
};
static void **core2[16] = {
	[4] = (void **)&domain_push,
	[5] = (void **)&domain_pop,
	[10] = (void **)&register_string,
	[12] = (void **)&domain_create,
};

static int get_table(int module, void ***(*table), unsigned int *size)
{
	*size = 16;
	*table = module == 1 ? core : module == 5 ? core2 : NULL;
	return *table != NULL;
}

static struct {
	size_t size;
	int (*get_table)(int module, void ***(*table), unsigned int *size);
} callbacks = { sizeof(callbacks), get_table };

static const void *export_table(uint32_t id)
{
	return id == 1 ? &callbacks : NULL;
}

static int nvtx_start(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*init)(const void *(*)(uint32_t)) = NULL;

	if (library)
		*(void **)&init = dlsym(library, "InitializeInjectionNvtx2");
	return init && init(export_table) == 1;
}

static void nvtx(int times)
{
	struct attributes ascii = { .version = 3, .size = sizeof(ascii), .message_type = 1, .message = "nvtx message" };
	struct attributes registered = { .version = 3, .size = sizeof(registered), .message_type = 3 };
	uint64_t first;
	void *domain;

	if (!nvtx_start())
		return;
	domain = domain_create("my nvtx");
	registered.message = register_string(domain, "nvtx registered");
	name_thread((uint32_t)syscall(SYS_gettid), "by nvtx");
	first = range_start("left out");
	if (range_start("left out") == first)
		abort();
	for (int i = 0; i < times; i++) {
		if (push_a("nvtx plain") != 0 || push_w(L"nvtx wide") != 1 || push_ex(&ascii) != 2)
			abort();
		if (domain_push(domain, &registered) != 3 || domain_pop(domain) != 3)
			abort();
		for (int level = 2; level >= 0; level--) {
			if (pop() != level)
				abort();
		}
	}
	if (push_a("nvtx alone") != 0 || domain_pop(domain) != -1 || pop() != 0 || pop() != -1) /* nothing is pushed */
		abort();
	mark_a("nvtx here");
}

/* Tasks of two domains of ITT, and a range of NVTX: each ends before what began in it. */
static void interleaved(int times)
{
	static struct itt_string task = { .text = "itt first" }, other = { .text = "itt second" };
	struct itt_domain *one = itt_domain_create("one"), *two = itt_domain_create("two");
	struct itt_id none = { 0, 0, 0 };
	void *blocks[3];

	for (int i = 0; i < times; i++) {
		itt_task_begin(one, none, none, &task);
		blocks[0] = malloc(1000);
		itt_task_begin(two, none, none, &other);
		blocks[1] = malloc(20000);
		push_a("nvtx third");
		itt_task_end(one);
		blocks[2] = malloc(300000);
		itt_task_end(two);
		free(blocks[1]);
		pop();
		free(blocks[0]);
		free(blocks[2]);
	}
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;

	itt(times);
	nvtx(times);
	if (itt_task_begin && push_a)
		interleaved(times);
	puts("done");
	return 0;
}
