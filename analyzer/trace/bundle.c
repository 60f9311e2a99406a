/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/tar.h"
#include "compact/compact.h"

#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* ---- lists of members that were read: each trace of a bundle is opened several times ---- */

struct known {
	struct known *next;
	dev_t device;
	ino_t inode;
	uint64_t bytes;
	struct timespec changed;
	struct tpa_tar tar; /* parts without a file */
};

static struct known *known; /* lives until the program ends */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_same(const struct known *one, const struct stat *status)
{
	return one->device == status->st_dev && one->inode == status->st_ino &&
	       one->bytes == (uint64_t)status->st_size && one->changed.tv_sec == status->st_mtim.tv_sec &&
	       one->changed.tv_nsec == status->st_mtim.tv_nsec;
}

static struct known *add_known(int fd, const struct stat *status)
{
	struct tpa_part whole = { .fd = fd, .bytes = (uint64_t)status->st_size };
	struct known *one;

	if (!tpa_tar_is(&whole))
		return NULL;
	one = tpa_zalloc(1, sizeof(*one));
	*one = (struct known){ .next = known,
			       .device = status->st_dev,
			       .inode = status->st_ino,
			       .bytes = (uint64_t)status->st_size,
			       .changed = status->st_mtim };
	tpa_tar_read(&one->tar, &whole);
	known = one;
	return one;
}

/* The members of an open file; NULL: it is no archive. */
static const struct tpa_tar *members_of(int fd)
{
	struct known *one;
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return NULL;
	pthread_mutex_lock(&lock);
	one = known;
	while (one && !is_same(one, &status))
		one = one->next;
	if (!one)
		one = add_known(fd, &status);
	pthread_mutex_unlock(&lock);
	return one ? &one->tar : NULL;
}

/* ---- opening ---- */

bool tpa_bundle_is(const char *file)
{
	int fd = open(file, FLAGS);
	struct tpa_part whole;
	bool is;

	if (fd < 0)
		return false;
	whole = tpa_part_whole(fd);
	is = tpa_tar_is(&whole);
	close(fd);
	return is;
}

static bool find(int fd, const char *name, struct tpa_part *part)
{
	const struct tpa_tar *tar = members_of(fd);

	for (size_t i = 0; tar && i < tar->count; i++)
		if (strcmp(tar->list[i].name, name) == 0) {
			*part = tar->list[i].part;
			part->fd = fd;
			return true;
		}
	return false;
}

/* Of a path that goes through a file, the file, and where in the path its name ends. */
static int open_container(const char *path, int flags, const char **rest)
{
	char *begin = tpa_strdup(path), *slash;
	int fd = -1;

	while (fd < 0 && (slash = strrchr(begin, '/')) && slash > begin) {
		*slash = '\0';
		*rest = path + (slash - begin) + 1;
		fd = open(begin, flags);
		if (fd < 0 && errno != ENOTDIR)
			break;
	}
	free(begin);
	return fd;
}

int tpa_bundle_open(const char *file, int flags, struct tpa_part *part)
{
	const char *name;
	int fd = open(file, flags);

	if (fd >= 0)
		*part = tpa_part_whole(fd);
	if (fd >= 0 || errno != ENOTDIR)
		return fd;
	fd = open_container(file, flags, &name);
	if (fd < 0 || find(fd, name, part))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

char *tpa_bundle_of(const char *path)
{
	const char *rest = NULL;
	int fd = open_container(path, FLAGS, &rest);
	bool is = fd >= 0 && members_of(fd);

	if (fd >= 0)
		close(fd);
	return is ? tpa_strndup(path, (size_t)(rest - path) - 1) : NULL;
}

bool tpa_bundle_member(const struct tpa_part *part)
{
	return part->begin != 0;
}

/* ---- listing ---- */

__attribute__((format(printf, 2, 3))) static void tell(void (*say)(const char *sentence), const char *format, ...)
{
	char *text = NULL;
	va_list list;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		text = NULL;
	va_end(list);
	tpa_need(text != NULL);
	say(text);
	free(text);
}

/* Why the member can't be opened as a trace; NULL: it can. */
static const char *obstacle(const struct tpa_tar_member *member)
{
	struct tpa_compact *compact;
	const char *reason = NULL;

	if (member->part.bytes < member->bytes)
		return "the file ends inside it";
	if (!tpa_compact_is(&member->part))
		return "no compact trace";
	compact = tpa_compact_open(&member->part, &reason);
	if (compact)
		reason = NULL;
	tpa_compact_close(compact);
	return reason;
}

char **tpa_bundle_list(const char *file, size_t *count, void (*say)(const char *sentence))
{
	int fd = open(file, FLAGS);
	const struct tpa_tar *tar = fd < 0 ? NULL : members_of(fd);
	char **list = tar ? tpa_zalloc(tar->count, sizeof(*list)) : NULL;

	*count = 0;
	for (size_t i = 0; tar && i < tar->count; i++) {
		struct tpa_tar_member member = tar->list[i];
		const char *reason;

		member.part.fd = fd;
		reason = obstacle(&member);
		if (reason)
			tell(say, "%s/%s: left out: %s", file, member.name, reason);
		else
			list[(*count)++] = tpa_format("%s/%s", file, member.name);
	}
	if (tar && tar->damage.reason)
		tell(say, "%s: damaged at offset %" PRIu64 ": %s; %zu trace%s can be read", file, tar->damage.offset,
		     tar->damage.reason, *count, *count == 1 ? "" : "s");
	if (fd >= 0)
		close(fd);
	if (*count)
		return list;
	free(list);
	return NULL;
}
