/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process.h"

#include "core/arguments.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/job.h"
#include "core/maps.h"
#include "core/private_fds.h"
#include "core/sys.h"
#include "core/text.h"

#include <sys/auxv.h>

#define LINE 64u   /* bytes: longer than any line of a number in /proc/PID/status */
#define STATM 128u /* bytes: longer than the seven numbers of /proc/PID/statm */

static long read_file(const char *path, char *buffer, size_t size)
{
	int fd = tpc_sys_open(path, O_RDONLY, 0);
	long got;

	if (fd < 0)
		return fd;
	got = tpc_sys_read(fd, buffer, size - 1);
	tpc_sys_close(fd);
	buffer[got > 0 ? got : 0] = 0;
	return got;
}

static uint64_t start_in(const char *path)
{
	char stat[1024];
	const char *at;
	uint64_t start = 0;

	if (read_file(path, stat, sizeof(stat)) <= 0)
		return 0;
	at = strrchr(stat, ')'); /* ends field 2, which may hold anything */
	for (int field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && tpc_text_number(&at, &start) ? start : 0;
}

uint64_t tpc_process_start(uint32_t pid)
{
	char path[64];
	struct tpc_text text = tpc_text_in(path, sizeof(path));

	tpc_text_add(&text, "/proc/");
	tpc_text_add_number(&text, pid);
	tpc_text_add(&text, "/stat");
	return start_in(path);
}

/* Was the loader started as the program? Then it had no loader of its own, and AT_PHDR tells where it put the program. */
static size_t loaded_by_hand(char *to, size_t size)
{
	const char *path = "";
	size_t length;

	if (getauxval(AT_BASE) || !getauxval(AT_PHDR))
		return 0;
	tpc_maps_find(getauxval(AT_PHDR), to, size, &path);
	length = strlen(path);
	memmove(to, path, length + 1);
	return length;
}

static size_t copy_text(char *to, size_t size, const char *from)
{
	struct tpc_text text = tpc_text_in(to, size);

	tpc_text_add(&text, from);
	return text.length;
}

/* As it was found at the start: after chroot(2) there may be no /proc. */
static char known_exe[sizeof(((struct tpc_identity *)0)->exe)];

size_t tpc_process_exe(char *to, size_t size)
{
	size_t by_hand = loaded_by_hand(to, size);
	long length = by_hand ? (long)by_hand : tpc_sys_readlink("/proc/self/exe", to, size - 1);

	if (length <= 0)
		return copy_text(to, size, known_exe);
	to[length] = 0;
	return (size_t)length;
}

/*
 * Only once: a forked child's arguments may have been overwritten by a title. What the loader was told to run is the
 * program.
 */
static void find_names(struct tpc_identity *identity)
{
	static bool found;
	const char *started = (const char *)getauxval(AT_EXECFN);
	size_t count;
	char *const *arguments = tpc_arguments(&count);

	if (found)
		return;
	found = true;
	if (!getauxval(AT_BASE) && getauxval(AT_PHDR))
		started = identity->exe;
	if (started && strncmp(started, "/dev/fd/", 8) != 0)
		copy_text(identity->started, sizeof(identity->started), started);
	if (count && arguments[0])
		copy_text(identity->argument, sizeof(identity->argument),
			  tpc_text_base(arguments[0][0] == '-' ? arguments[0] + 1 : arguments[0]));
}

bool tpc_is_named(const struct tpc_identity *identity, const char *glob)
{
	return tpc_text_glob(glob, tpc_text_base(identity->exe)) ||
	       (identity->started[0] && tpc_text_glob(glob, tpc_text_base(identity->started))) ||
	       (identity->argument[0] && tpc_text_glob(glob, identity->argument));
}

void tpc_identify(struct tpc_identity *identity)
{
	tpc_process_exe(identity->exe, sizeof(identity->exe));
	copy_text(known_exe, sizeof(known_exe), identity->exe);
	find_names(identity);
	identity->pid = tpc_sys_getpid();
	identity->ppid = tpc_sys_getppid();
	/* Not by pid: /proc may belong to another PID namespace. */
	identity->start = start_in("/proc/self/stat");
}

/* ---- memory ---- */

static const char statm_path[] = "/proc/self/statm";

/* /proc/self/statm, kept open because it is read at any time beside other threads (core/private_fds.h). */
static int statm = -1; /* -1: the program's limit left no room */
static dev_t statm_device;
static ino_t statm_inode;

static bool is_statm(int fd)
{
	return tpc_sys_is_file(fd, statm_device, statm_inode);
}

void tpc_memory_open(void)
{
	int fd = tpc_sys_open(statm_path, O_RDONLY, 0);
	struct stat status;

	if (fd < 0)
		return;
	if (tpc_sys_fstat(fd, &status) == 0) {
		int high = tpc_sys_fcntl(fd, F_DUPFD_CLOEXEC, TPC_HIGH_DESCRIPTOR);

		statm_device = status.st_dev;
		statm_inode = status.st_ino;
		statm = high < 0 ? -1 : high;
	}
	tpc_sys_close(fd);
}

void tpc_memory_forget(void)
{
	if (is_statm(statm))
		tpc_sys_close(statm);
	statm = -1;
}

static void read_statm(void *text)
{
	read_file(statm_path, text, STATM);
}

bool tpc_memory(struct tpc_memory *memory)
{
	char text[STATM] = "";
	const char *at = text;

	/*
	 * Programs close descriptors that they do not know. If another file has the number, pread() leaves its position
	 * unchanged.
	 */
	if (!is_statm(statm) || tpc_sys_pread(statm, text, sizeof(text) - 1, 0) <= 0)
		tpc_private_fds_from_threads(read_statm, text);
	if (!tpc_text_number(&at, &memory->vms) || *at++ != ' ' || !tpc_text_number(&at, &memory->rss) ||
	    *at++ != ' ' || !tpc_text_number(&at, &memory->shared))
		return false;
	memory->rss *= TPC_PAGE;
	memory->vms *= TPC_PAGE;
	memory->shared *= TPC_PAGE;
	return true;
}

/* The number after `name`, in a complete line. */
static bool find_line(const char *text, const char *name, uint64_t *number)
{
	const char *at = strstr(text, name);

	if (!at || !strchr(at + 1, '\n'))
		return false;
	for (at += strlen(name); *at == ' ' || *at == '\t'; at++)
		;
	return tpc_text_number(&at, number);
}

/* Reads in pieces: the line of the user's groups, of which there may be thousands, comes before it. */
static void read_peak(void *context)
{
	int fd = tpc_sys_open("/proc/self/status", O_RDONLY, 0);
	uint64_t *kib = context;
	char piece[2048];
	size_t kept = 0;
	long got;

	if (fd < 0)
		return;
	while ((got = tpc_sys_read(fd, piece + kept, sizeof(piece) - 1 - kept)) > 0) {
		size_t length = kept + (size_t)got;

		piece[length] = 0;
		if (find_line(piece, "\nVmHWM:", kib))
			break;
		kept = length < LINE ? length : LINE; /* the line may begin there */
		memmove(piece, piece + length - kept, kept);
	}
	tpc_sys_close(fd);
}

uint64_t tpc_memory_peak(void)
{
	uint64_t kib = 0;

	tpc_private_fds_from_threads(read_peak, &kib);
	return kib * 1024;
}

/* Where the next text may begin: behind that one, too. */
static uint32_t behind(const struct tprof_span *span, uint32_t offset)
{
	return span->length && span->offset + span->length > offset ? span->offset + span->length : offset;
}

static void describe_span(struct tprof_header *header, struct tprof_span *span, const char *bytes, size_t length)
{
	uint32_t offset = behind(&header->job, TPROF_TEXT_OFFSET);

	for (size_t i = 0; i < TPROF_TEXT_COUNT; i++)
		offset = behind(&header->text[i], offset);
	if (offset > TPROF_HEADER_SIZE)
		offset = TPROF_HEADER_SIZE; /* another process wrote there */
	if (length > TPROF_HEADER_SIZE - offset) {
		length = TPROF_HEADER_SIZE - offset;
		tpc_set_bits(&header->flags, TPROF_FLAG_TEXT_CUT);
	}
	memcpy((char *)header + offset, bytes, length);
	span->offset = offset;
	tpc_store_release(&span->length, (uint32_t)length); /* a reader sees the bytes with it */
}

void tpc_describe_text(struct tprof_header *header, enum tprof_text which, const char *bytes, size_t length)
{
	describe_span(header, &header->text[which], bytes, length);
}

static void describe_arguments(struct tprof_header *header)
{
	static char text[8192]; /* static: only one thread starts, and the user's stack may be small */
	static struct tpc_text to;
	size_t count;
	char *const *arguments = tpc_arguments(&count);

	if (!to.bytes)
		to = tpc_text_in(text, sizeof(text));
	else
		count = 0; /* a forked child's may have been overwritten by a title */
	for (size_t i = 0; i < count && arguments[i]; i++) {
		tpc_text_add(&to, arguments[i]);
		tpc_text_add_bytes(&to, "", 1);
	}
	if (to.cut)
		tpc_set_bits(&header->flags, TPROF_FLAG_TEXT_CUT);
	tpc_describe_text(header, TPROF_TEXT_ARGS, text, to.length);
}

static void describe_environment(struct tprof_header *header)
{
	char *const *environment = tpc_environment();
	static char text[2048];
	static struct tpc_text to;

	if (!to.bytes)
		to = tpc_text_in(text, sizeof(text));
	else
		environment = NULL;
	for (; environment && *environment; environment++) {
		if (strncmp(*environment, "TPROF_", 6) != 0)
			continue;
		tpc_text_add(&to, *environment);
		tpc_text_add_bytes(&to, "", 1);
	}
	tpc_describe_text(header, TPROF_TEXT_ENV, text, to.length);
}

static void describe_job(struct tprof_header *header)
{
	static char text[2048];
	static struct tpc_text to;

	if (!to.bytes) {
		to = tpc_text_in(text, sizeof(text));
		tpc_job_describe(&to);
	}
	describe_span(header, &header->job, text, to.length);
}

/* The PID namespace; 0: unknown. */
static uint64_t read_namespace(void)
{
	char text[64];
	long length = tpc_sys_readlink("/proc/self/ns/pid", text, sizeof(text) - 1);
	const char *at;
	uint64_t number;

	text[length > 0 ? length : 0] = 0; /* pid:[4026531836] */
	at = strchr(text, '[');
	return at && (at++, tpc_text_number(&at, &number)) ? number : 0;
}

/* The machine's boot. Leaves `boot` if it can't be read. */
static void read_boot(uint8_t boot[16])
{
	char text[64];
	size_t digits = 0;

	if (read_file("/proc/sys/kernel/random/boot_id", text, sizeof(text)) <= 0)
		return;
	for (const char *at = text; *at && digits < 32; at++) {
		uint8_t *byte = &boot[digits / 2];

		if (*at >= '0' && *at <= '9')
			*byte = (uint8_t)(*byte << 4 | (*at - '0'));
		else if (*at >= 'a' && *at <= 'f')
			*byte = (uint8_t)(*byte << 4 | (*at - 'a' + 10));
		else
			continue;
		digits++;
	}
}

/*
 * Describes where and when `pid` and the clocks are valid. A fork that has no /proc is where its parent was, unless it
 * does not see its parent: then it is in a PID namespace of its own.
 */
static void describe_place(struct tprof_header *header)
{
	static uint64_t known;
	static uint8_t boot[16];
	uint64_t own = read_namespace();

	if (own || !tpc_sys_getppid())
		known = own;
	header->pid_namespace = known;
	read_boot(boot);
	memcpy(header->boot_id, boot, sizeof(boot));
}

void tpc_describe(struct tprof_header *header, const struct tpc_identity *identity, const char *parent)
{
	static char cwd[1024];
	long length = tpc_sys_getcwd(cwd, sizeof(cwd)); /* counts the NUL */

	header->version = TPROF_VERSION;
	header->header_size = TPROF_HEADER_SIZE;
	header->chunk_size = TPROF_CHUNK_SIZE;
	header->page_size = TPC_PAGE;
	header->machine = TPC_ARCH_MACHINE;
	header->pid = identity->pid;
	header->ppid = identity->ppid;
	header->process_start = identity->start;
	header->run = tpc_config.run;
	header->clock = tpc_clock_kind;
	header->tick_shift = tpc_clock_kind == TPROF_CLOCK_TSC ? TPC_CLOCK_TSC_SHIFT : 0;
	header->depth = tpc_config.depth;
	header->sample_bytes = tpc_config.alloc == TPC_ALLOC_SAMPLE ? tpc_config.sample_bytes : 0;
	header->start = tpc_clock_moment();
	tpc_describe_text(header, TPROF_TEXT_EXE, identity->exe, strlen(identity->exe));
	tpc_describe_text(header, TPROF_TEXT_STARTED, identity->started, strlen(identity->started));
	tpc_describe_text(header, TPROF_TEXT_CWD, cwd, length > 0 ? (size_t)length - 1 : 0);
	if (parent)
		tpc_describe_text(header, TPROF_TEXT_PARENT, parent, strlen(parent));
	describe_place(header);
	describe_environment(header);
	describe_job(header);
	describe_arguments(header);
	memcpy(header->magic, TPROF_MAGIC, 8); /* last: before it, this is no trace */
}
