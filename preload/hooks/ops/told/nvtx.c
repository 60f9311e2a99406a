/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An injection library for NVIDIA's NVTX 3. A program that uses it loads the library that NVTX_INJECTION64_PATH names
 * and passes it tables of pointers to API functions. Pushed and popped ranges become ops in the category of their
 * domain; marks and names of threads work as in tprof.h. Ranges of nvtxRangeStart, which need not nest, are left out.
 * The types are the API's binary interface.
 */
#include "core/sys.h"
#include "hooks/gate/start.h"
#include "hooks/ops/told/annotate.h"
#include "hooks/ops/told/domains.h"
#include "hooks/ops/select.h"
#include "hooks/ops/texts.h"

#define FRAME __builtin_frame_address(0)

struct attributes { /* nvtxEventAttributes_t */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

static TPC_TLS struct tpc_domains pushed; /* their number is what the API returns */
static tpc_shared_u64 started;

/* Domains and registered strings have their texts as handles. */
static const char *message_of(const struct attributes *attributes, char buffer[TPC_TEXT_BYTES])
{
	if (!attributes || !attributes->message)
		return "?";
	switch (attributes->message_type) {
	case MESSAGE_ASCII:
	case MESSAGE_REGISTERED:
		return attributes->message;
	case MESSAGE_WIDE:
		return tpc_text_narrow(attributes->message, buffer);
	default:
		return "?";
	}
}

static int push(const void *frame, const char *name, const char *domain)
{
	tpc_annotate_begin(frame, TPC_ANNOTATOR_NVTX, name ? name : "?", domain ? domain : "nvtx");
	tpc_domains_push(&pushed, domain);
	return (int)pushed.depth - 1;
}

/* Core, by its number in the table. */

static void mark_ex(const struct attributes *attributes)
{
	char buffer[TPC_TEXT_BYTES];

	tpc_annotate_mark(message_of(attributes, buffer));
}

static void mark_a(const char *text)
{
	tpc_annotate_mark(text);
}

static void mark_w(const wchar_t *text)
{
	char buffer[TPC_TEXT_BYTES];

	tpc_annotate_mark(tpc_text_narrow(text, buffer));
}

static uint64_t range_start(const void *what)
{
	(void)what;
	return tpc_add(&started, 1) + 1;
}

static void range_end(uint64_t id)
{
	(void)id;
}

static int push_ex(const struct attributes *attributes)
{
	char buffer[TPC_TEXT_BYTES];

	return push(FRAME, message_of(attributes, buffer), NULL);
}

static int push_a(const char *text)
{
	return push(FRAME, text, NULL);
}

static int push_w(const wchar_t *text)
{
	char buffer[TPC_TEXT_BYTES];

	return push(FRAME, tpc_text_narrow(text, buffer), NULL);
}

static int pop(const void *frame, const void *domain)
{
	uint32_t inner;

	if (!tpc_domains_pop(&pushed, domain, &inner))
		return -1;
	tpc_annotate_end(frame, TPC_ANNOTATOR_NVTX, inner);
	return (int)pushed.depth;
}

static int range_pop(void)
{
	return pop(FRAME, NULL);
}

static void name_thread_a(uint32_t thread, const char *name)
{
	if (thread == tpc_sys_gettid())
		tpc_annotate_thread(name, false);
}

static void name_thread_w(uint32_t thread, const wchar_t *name)
{
	char buffer[TPC_TEXT_BYTES];

	name_thread_a(thread, tpc_text_narrow(name, buffer));
}

/* Core 2: domains. */

static void domain_mark_ex(const void *domain, const struct attributes *attributes)
{
	(void)domain;
	mark_ex(attributes);
}

static uint64_t domain_range_start(const void *domain, const void *what)
{
	(void)domain;
	return range_start(what);
}

static void domain_range_end(const void *domain, uint64_t id)
{
	(void)domain;
	range_end(id);
}

static int domain_push_ex(const char *domain, const struct attributes *attributes)
{
	char buffer[TPC_TEXT_BYTES];

	return push(FRAME, message_of(attributes, buffer), domain);
}

static int domain_pop(const void *domain)
{
	return pop(FRAME, domain);
}

static const char *register_a(const void *domain, const char *text)
{
	(void)domain;
	return tpc_text_keep(text);
}

static const char *register_w(const void *domain, const wchar_t *text)
{
	char buffer[TPC_TEXT_BYTES];

	(void)domain;
	return tpc_text_keep(tpc_text_narrow(text, buffer));
}

static const char *domain_create_a(const char *name)
{
	return tpc_text_keep(name);
}

static const char *domain_create_w(const wchar_t *name)
{
	char buffer[TPC_TEXT_BYTES];

	return tpc_text_keep(tpc_text_narrow(name, buffer));
}

/* ---- injection ---- */

enum { MODULE_CORE = 1, MODULE_CORE2 = 5, TABLE_CALLBACKS = 1 };

struct callbacks {
	size_t size;
	int (*get_table)(int module, void ***(*table), unsigned int *size);
};

static void *const core[] = {
	NULL,
	(void *)mark_ex,
	(void *)mark_a,
	(void *)mark_w,
	(void *)range_start,
	(void *)range_start,
	(void *)range_start,
	(void *)range_end,
	(void *)push_ex,
	(void *)push_a,
	(void *)push_w,
	(void *)range_pop,
	NULL,
	NULL,
	(void *)name_thread_a,
	(void *)name_thread_w,
};

static void *const core2[] = {
	NULL,
	(void *)domain_mark_ex,
	(void *)domain_range_start,
	(void *)domain_range_end,
	(void *)domain_push_ex,
	(void *)domain_pop,
	NULL,
	NULL,
	NULL,
	NULL,
	(void *)register_a,
	(void *)register_w,
	(void *)domain_create_a,
	(void *)domain_create_w,
};

static bool fill(const struct callbacks *callbacks, int module, void *const *functions, size_t count)
{
	void ***table = NULL;
	unsigned int size = 0;

	if (!callbacks->get_table(module, &table, &size) || !table)
		return false;
	for (size_t i = 0; i < count && i < size; i++) {
		if (functions[i] && table[i])
			tpc_store_release(table[i], functions[i]); /* pairs with calls through it */
	}
	return true;
}

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id));
int InitializeInjectionNvtx(const void *(*get_export_table)(uint32_t id));

/* Called once by each library that uses NVTX. 1: the functions are in place. */
TPC_EXPORT int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id))
{
	const struct callbacks *callbacks = get_export_table ? get_export_table(TABLE_CALLBACKS) : NULL;

	tpc_start(); /* which says so if the library came too late */
	if (!tpc_ops_use("nvtx") || !callbacks || callbacks->size < sizeof(*callbacks) ||
	    !fill(callbacks, MODULE_CORE, core, TPC_LENGTH(core)))
		return 0;
	fill(callbacks, MODULE_CORE2, core2, TPC_LENGTH(core2));
	return 1;
}

/* The name that version 2 looks up. */
TPC_EXPORT int InitializeInjectionNvtx(const void *(*get_export_table)(uint32_t id))
{
	return InitializeInjectionNvtx2(get_export_table);
}
