/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collector for Intel's ITT API. A library that uses it (oneDNN, torch, OpenVINO, TBB) loads the library that
 * INTEL_LIBITTNOTIFY64 names and passes it the table of API functions, to be filled in. Tasks become ops in the
 * category of their domain, markers become marks; names of threads, pause and resume work as in tprof.h. The types are
 * the API's binary interface.
 */
#include "hooks/gate/start.h"
#include "hooks/ops/told/itt.h"

#include "hooks/ops/told/annotate.h"
#include "hooks/ops/told/domains.h"
#include "hooks/ops/select.h"
#include "hooks/ops/texts.h"
#include "hooks/gate/pause.h"

#define FRAME __builtin_frame_address(0)

struct domain {
	volatile int flags; /* 0: the API's functions do nothing */
	int unused1;
	const char *name;
	void *wide_name;
	int extra1, unused2;
	void *extra2;
	struct domain *next;
};

struct string_handle {
	const char *text;
	void *wide_text;
	int extra1;
	void *extra2;
	struct string_handle *next;
};

struct id {
	unsigned long long d1, d2, d3;
};

struct function {
	const char *name;
	void **pointer;
	void *first; /* what it points to at first */
	void *nothing;
	int group;
};

struct global {
	unsigned char magic[8];
	unsigned long version_major, version_minor, version_build;
	volatile long api_initialized, mutex_initialized, atomic_counter;
	unsigned long mutex[5]; /* pthread_mutex_t */
	void *library, *error_handler;
	const char **path;
	struct function *functions; /* the last one has no name */
	struct global *next;
	void *threads;
	struct domain *domains;
};

struct known {
	struct domain domain; /* the part that the program sees */
	struct known *next;
};

static TPC_SHARED(struct known *)
	known; /* the latest first, none is ever taken out; domain_create()'s swap pairs with its load */
static struct known no_room = { .domain = { .flags = 1, .name = "?" } };
static tpc_shared_bool onednn_muted;
static TPC_TLS struct tpc_domains begun;

void tpc_itt_mute_onednn(void)
{
	tpc_store(&onednn_muted, true);
}

static bool is_muted(const struct domain *domain)
{
	return tpc_load(&onednn_muted) && domain && domain->name && strncmp(domain->name, "dnnl::", 6) == 0;
}

static struct known *find(struct known *from, const char *name)
{
	while (from && strncmp(from->domain.name, name, TPC_TEXT_BYTES - 1) != 0)
		from = from->next;
	return from;
}

static struct known *make(const char *name)
{
	struct known *made = tpc_text_room(sizeof(*made));

	if (made) {
		made->domain.flags = 1;
		made->domain.name = tpc_text_keep(name);
	}
	return made;
}

/* If two threads ask for one at once, they get the same. */
static struct domain *domain_create(const char *name)
{
	struct known *made = NULL, *found, *head;

	name = name ? name : "?";
	for (;;) {
		head = tpc_load_acquire(&known);
		found = find(head, name);
		if (found)
			return &found->domain;
		made = made ? made : make(name);
		if (!made)
			return &no_room.domain;
		made->next = head;
		if (tpc_swap_if(&known, head, made))
			return &made->domain;
	}
}

static void begin(const void *frame, const struct domain *domain, const char *name)
{
	tpc_domains_push(&begun, domain);
	if (is_muted(domain))
		tpc_annotate_skip(TPC_ANNOTATOR_ITT);
	else
		tpc_annotate_begin(frame, TPC_ANNOTATOR_ITT, name, domain && domain->name ? domain->name : "itt");
}

static void task_begin(const struct domain *domain, struct id task, struct id parent, const struct string_handle *name)
{
	(void)task;
	(void)parent;
	begin(FRAME, domain, name && name->text ? name->text : "?");
}

/* The same for a task named after a function. */
static void task_begin_fn(const struct domain *domain, struct id task, struct id parent, const void *function)
{
	(void)task;
	(void)parent;
	(void)function;
	begin(FRAME, domain, "?");
}

static void task_end(const struct domain *domain)
{
	uint32_t inner;

	if (tpc_domains_pop(&begun, domain, &inner))
		tpc_annotate_end(FRAME, TPC_ANNOTATOR_ITT, inner);
}

static void marker(const struct domain *domain, struct id id, const struct string_handle *name, int scope)
{
	(void)domain;
	(void)id;
	(void)scope;
	tpc_annotate_mark(name && name->text ? name->text : "?");
}

static void thread_set_name(const char *name)
{
	tpc_annotate_thread(name, false);
}

static void pause_recording(void)
{
	tpc_pause(FRAME);
}

static void resume_recording(void)
{
	tpc_resume(FRAME);
}

static const struct {
	const char *name;
	void *function;
} offered[] = {
	{ "__itt_domain_create", (void *)domain_create },
	{ "__itt_task_begin", (void *)task_begin },
	{ "__itt_task_begin_fn", (void *)task_begin_fn },
	{ "__itt_task_end", (void *)task_end },
	{ "__itt_marker", (void *)marker },
	{ "__itt_thread_set_name", (void *)thread_set_name },
	{ "__itt_pause", (void *)pause_recording },
	{ "__itt_resume", (void *)resume_recording },
};

void __itt_api_init(struct global *global, int groups);

/*
 * Called once by each library that contains the API's static part. Functions that are not offered stay as they are:
 * they do nothing.
 */
TPC_EXPORT void __itt_api_init(struct global *global, int groups)
{
	(void)groups;
	tpc_start(); /* which says so if the library came too late */
	if (!tpc_ops_use("itt"))
		return;
	for (struct domain *domain = global->domains; domain; domain = domain->next)
		domain->flags = 1;
	for (const struct function *to = global->functions; to && to->name; to++) {
		for (size_t i = 0; i < TPC_LENGTH(offered); i++) {
			if (strcmp(to->name, offered[i].name) == 0)
				tpc_store_release(to->pointer, offered[i].function); /* pairs with calls through it */
		}
	}
}
