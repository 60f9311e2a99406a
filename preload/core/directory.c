/* SPDX-License-Identifier: Apache-2.0 */
#include "core/directory.h"

#include "core/lookup.h"
#include "core/sys.h"
#include "core/text.h"
#include "core/thread.h"

/* Written before there are other threads, or in a child that has none. */
static struct {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
	size_t length;
	char path[4096]; /* with its last slash */
} kept = { .fd = -1 };

/* The root directory when the process, or its first ancestor with a trace, began; inode 0: unknown. */
static dev_t root_device;
static ino_t root_inode;

/* A file, as the kernel takes it. */
struct file {
	int directory;
	const char *name;
};

/* Programs close descriptors that they do not know. A directory that was removed has no links, and may exist anew. */
static bool is_kept(void)
{
	struct stat status;

	return kept.fd >= 0 && tpc_sys_fstat(kept.fd, &status) == 0 && status.st_dev == kept.device &&
	       status.st_ino == kept.inode && status.st_nlink > 0;
}

static size_t directory_length(const char *path)
{
	return (size_t)(tpc_text_base(path) - path);
}

static struct file find(const char *path)
{
	size_t length = directory_length(path);

	if (length && length == kept.length && memcmp(path, kept.path, length) == 0 && is_kept())
		return (struct file){ kept.fd, path + length };
	return (struct file){ AT_FDCWD, path };
}

/* Moves it to a high number, and remembers which directory it is. */
static void keep(int fd, const char *path, size_t length)
{
	struct stat status;
	int high = -1;

	if (tpc_sys_fstat(fd, &status) == 0)
		high = tpc_sys_fcntl(fd, F_DUPFD_CLOEXEC, TPC_HIGH_DESCRIPTOR);
	tpc_sys_close(fd);
	if (high < 0)
		return;
	kept.device = status.st_dev;
	kept.inode = status.st_ino;
	kept.length = length;
	memcpy(kept.path, path, length);
	kept.fd = high;
}

static bool read_root(struct stat *status)
{
	return tpc_syscall(SYS_newfstatat, AT_FDCWD, "/", status, 0) == 0;
}

static void remember_root(void)
{
	struct stat root;

	if (root_inode || !read_root(&root))
		return;
	root_device = root.st_dev;
	root_inode = root.st_ino;
}

bool tpc_directory_root_changed(void)
{
	struct stat root;

	return root_inode && read_root(&root) && (root.st_ino != root_inode || root.st_dev != root_device);
}

void tpc_directory_keep(const char *path)
{
	size_t length = directory_length(path);
	static char name[sizeof(kept.path)]; /* the user's stack may be small */
	int fd;

	remember_root();
	if (find(path).directory != AT_FDCWD || !length || length >= sizeof(name) || tpc_load(&tpc_thread_several) ||
	    tpc_lookup_is_last())
		return;
	if (is_kept())
		tpc_sys_close(kept.fd);
	kept.fd = -1;
	memcpy(name, path, length);
	name[length] = 0;
	fd = tpc_sys_open(name, O_PATH | O_DIRECTORY, 0);
	if (fd >= 0)
		keep(fd, path, length);
}

int tpc_directory_open(const char *path, int flags, int mode)
{
	struct file file = find(path);

	return (int)tpc_syscall(SYS_openat, file.directory, file.name, flags | O_CLOEXEC, mode);
}

int tpc_directory_lstat(const char *path, struct stat *status)
{
	struct file file = find(path);

	return (int)tpc_syscall(SYS_newfstatat, file.directory, file.name, status, AT_SYMLINK_NOFOLLOW);
}

int tpc_directory_unlink(const char *path)
{
	struct file file = find(path);

	return (int)tpc_syscall(SYS_unlinkat, file.directory, file.name, 0, 0);
}

int tpc_directory_rename(const char *from, const char *to, unsigned int flags)
{
	struct file old = find(from), new = find(to);

	return (int)tpc_syscall6(SYS_renameat2, old.directory, (long)old.name, new.directory, (long)new.name, flags, 0);
}

int tpc_directory_link(const char *from, const char *to)
{
	struct file old = find(from), new = find(to);

	return (int)tpc_syscall6(SYS_linkat, old.directory, (long)old.name, new.directory, (long)new.name, 0, 0);
}
