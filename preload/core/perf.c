/* SPDX-License-Identifier: Apache-2.0 */
#include "core/perf.h"

#include "core/sys.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#define FD_BASE_MAX 4096u

/* Number of a cache event: which cache, read or write, access or miss (perf_event_open(2)). */
#define CACHE(what, op, result)                                                                                        \
	(PERF_COUNT_HW_CACHE_##what | PERF_COUNT_HW_CACHE_OP_##op << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} names[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS) },
	{ "L1-dcache-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS) },
	{ "LLC-loads", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS) },
	{ "LLC-misses", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS) },
	{ "dTLB-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS) },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS }, /* perf's second name; likewise below */
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
};

static enum tpc_perf_kind kind_of(const struct tpc_perf_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE ? TPC_PERF_SOFTWARE : TPC_PERF_HARDWARE;
}

/* Hexadecimal digits, at most 16 of them. */
static bool read_raw(const char *text, size_t length, uint64_t *config)
{
	*config = 0;
	for (size_t i = 0; i < length; i++) {
		char c = (char)(text[i] | 0x20);

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		*config = *config << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return length > 0 && length <= 16;
}

static bool perf_event(const char *name, size_t length, struct tpc_perf_event *event)
{
	*event = (struct tpc_perf_event){ 0 };
	if (length >= sizeof(event->name))
		return false;
	memcpy(event->name, name, length);
	for (size_t i = 0; i < TPC_LENGTH(names); i++) {
		if (strcmp(names[i].name, event->name) != 0)
			continue;
		event->type = names[i].type;
		event->config = names[i].config;
		return true;
	}
	event->type = PERF_TYPE_RAW;
	return length > 1 && name[0] == 'r' && read_raw(name + 1, length - 1, &event->config);
}

/* ---- opening and closing ---- */

static int open_event(const struct tpc_perf_event *event, int leader)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_kernel = event->user_only,
		.exclude_hv = event->user_only,
	};

	return (int)tpc_syscall6(SYS_perf_event_open, (long)&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC, 0);
}

/* Duplicates it to a number that programs rarely use. */
static int move_high(int fd)
{
	uint64_t base = tpc_sys_limit(RLIMIT_NOFILE) / 2;
	int high = tpc_sys_fcntl(fd, F_DUPFD_CLOEXEC, (long)(base < FD_BASE_MAX ? base : FD_BASE_MAX));

	tpc_sys_close(fd);
	return high;
}

static bool is_ours(int fd, uint64_t id)
{
	uint64_t there = 0;

	return tpc_syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &there, 0) == 0 && there == id;
}

int tpc_perf_try(struct tpc_perf_event *event)
{
	int fd = open_event(event, -1);

	if (fd == -EACCES || fd == -EPERM) {
		event->user_only = true;
		fd = open_event(event, -1);
	}
	if (fd < 0)
		return -fd;
	tpc_sys_close(fd);
	return 0;
}

static struct perf_event_mmap_page *map_page(int fd)
{
	struct perf_event_mmap_page *page = tpc_sys_mmap(TPC_PAGE, PROT_READ, MAP_SHARED, fd, 0);

	return tpc_sys_failed(page) ? NULL : page;
}

bool tpc_perf_open(struct tpc_perf *perf, const struct tpc_perf_event *events, uint32_t count)
{
	int leaders[TPC_PERF_KINDS] = { -1, -1 };

	perf->mapped = true;
	for (perf->count = 0; perf->count < count; perf->count++) {
		uint32_t i = perf->count;
		enum tpc_perf_kind kind = kind_of(&events[i]);
		int fd = open_event(&events[i], leaders[kind]);

		if (fd >= 0)
			fd = move_high(fd);
		if (fd < 0)
			break;
		perf->fd[i] = fd;
		perf->page[i] = kind == TPC_PERF_HARDWARE ? map_page(fd) : NULL;
		if (kind == TPC_PERF_HARDWARE && !perf->page[i])
			perf->mapped = false;
		if (leaders[kind] < 0)
			leaders[kind] = fd;
		if (tpc_syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &perf->id[i], 0) != 0)
			perf->id[i] = UINT64_MAX; /* a kernel before 3.12: never recognized again */
	}
	if (perf->count == count)
		return true;
	tpc_perf_close(perf);
	return false;
}

void tpc_perf_close(struct tpc_perf *perf)
{
	for (uint32_t i = 0; i < perf->count; i++) {
		if (perf->page[i])
			tpc_sys_munmap(perf->page[i], TPC_PAGE);
		if (is_ours(perf->fd[i], perf->id[i]))
			tpc_sys_close(perf->fd[i]);
	}
	perf->count = 0;
}

/* ---- reading ---- */

/* Reads the processor's register as the page describes. False: the event is not on the processor now. */
static bool read_page(const struct perf_event_mmap_page *page, uint64_t *value, uint64_t *idle_ns)
{
	uint32_t turn, index;
	int64_t counted;

	do {
		turn = tpc_load_acquire(&page->lock); /* pairs with the kernel's, which makes it odd while it writes */
		index = page->index;
		if (!page->cap_user_rdpmc || !index)
			return false;
		counted = (int64_t)(tpc_arch_performance_counter(index - 1) << (64 - page->pmc_width));
		*value = (uint64_t)page->offset + (uint64_t)(counted >> (64 - page->pmc_width));
		*idle_ns = page->time_enabled - page->time_running;
		__atomic_signal_fence(__ATOMIC_ACQ_REL); /* only the kernel writes, when it interrupts this thread */
	} while (tpc_load(&page->lock) != turn || (turn & 1));
	return true;
}

static bool read_pages(const struct tpc_perf *perf, const struct tpc_perf_event *events, struct tpc_perf_values *values)
{
	if (!perf->mapped)
		return false;
	for (uint32_t i = 0; i < perf->count; i++) {
		if (kind_of(&events[i]) == TPC_PERF_HARDWARE &&
		    !read_page(perf->page[i], &values->value[i], &values->idle_ns))
			return false;
	}
	return true;
}

static bool read_group(const struct tpc_perf *perf, const struct tpc_perf_event *events, enum tpc_perf_kind kind,
		       struct tpc_perf_values *values)
{
	struct {
		uint64_t count, enabled, running, value[TPC_COUNTERS_MAX];
	} got;
	uint32_t members = 0, leader = TPC_COUNTERS_MAX;

	for (uint32_t i = perf->count; i-- > 0;) {
		if (kind_of(&events[i]) == kind) {
			leader = i;
			members++;
		}
	}
	if (!members)
		return true;
	if (!is_ours(perf->fd[leader], perf->id[leader]) || tpc_sys_read(perf->fd[leader], &got, sizeof(got)) <= 0 ||
	    got.count != members)
		return false;
	if (kind == TPC_PERF_HARDWARE)
		values->idle_ns = got.enabled - got.running;
	for (uint32_t i = leader, at = 0; i < perf->count; i++) {
		if (kind_of(&events[i]) == kind)
			values->value[i] = got.value[at++];
	}
	return true;
}

bool tpc_perf_read(const struct tpc_perf *perf, const struct tpc_perf_event *events, struct tpc_perf_values *values)
{
	values->idle_ns = 0;
	return (read_pages(perf, events, values) || read_group(perf, events, TPC_PERF_HARDWARE, values)) &&
	       read_group(perf, events, TPC_PERF_SOFTWARE, values);
}

bool tpc_perf_events(const char *list, struct tpc_perf_wanted *wanted)
{
	wanted->count = 0;
	while (*list) {
		size_t length = strcspn(list, ",");

		if (wanted->count == TPC_COUNTERS_MAX || !perf_event(list, length, &wanted->events[wanted->count])) {
			wanted->count = 0;
			return false;
		}
		wanted->count++;
		list += length;
		list += *list == ',';
	}
	return true;
}
