/* SPDX-License-Identifier: Apache-2.0 */
#include "core/follow.h"

#include "core/private_fds.h"
#include "core/config.h"
#include "core/inherit.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"

#include <elf.h>
#include <linux/prctl.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#define SCRIPTS 4 /* the interpreter may be a script: levels that the kernel follows */
#define HEADERS 64u

struct examined {
	const struct tpc_started *started;
	enum tprof_unfollowed why;
	bool found;
	char path[4096];
};

/* ---- the file ---- */

/* Users or groups of this process. */
struct ids {
	uint32_t real, effective;
};

static struct ids ids_of(int real, int effective, bool reset)
{
	struct ids ids = { .real = (uint32_t)tpc_syscall(real, 0, 0, 0, 0) };

	ids.effective = reset ? ids.real : (uint32_t)tpc_syscall(effective, 0, 0, 0, 0);
	return ids;
}

/* Do the file's mode bits and capabilities count? */
static bool may_gain(int fd)
{
	struct statfs system;

	return tpc_syscall6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) != 1 &&
	       (tpc_syscall(SYS_fstatfs, fd, &system, 0, 0) != 0 || !(system.f_flags & ST_NOSUID));
}

/*
 * Would the loader ignore LD_PRELOAD? The kernel asks for that (AT_SECURE) where the new effective ids are not the real
 * ones, whether or not the program is what changes them, and where a user other than root gains capabilities. Since
 * 6.16 it also does if the program only makes the real ids effective again, which is not known here.
 */
static enum tprof_unfollowed examine_rights(int fd, const struct stat *status, bool reset)
{
	struct ids user = ids_of(SYS_getuid, SYS_geteuid, reset), group = ids_of(SYS_getgid, SYS_getegid, reset);
	bool sets_user = status->st_mode & S_ISUID;
	bool sets_group = (status->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP), gains = may_gain(fd);
	char value[64];

	if (gains && ((sets_user && status->st_uid != user.real) || (sets_group && status->st_gid != group.real)))
		return TPROF_UNFOLLOWED_PRIVILEGED;
	if (gains && user.real && tpc_syscall(SYS_fgetxattr, fd, "security.capability", value, sizeof(value)) > 0)
		return TPROF_UNFOLLOWED_PRIVILEGED;
	if ((!(gains && sets_user) && user.effective != user.real) ||
	    (!(gains && sets_group) && group.effective != group.real))
		return TPROF_UNFOLLOWED_IDS;
	return 0;
}

/* The loader, started by hand, is a program without an interpreter. */
static bool is_loader(const char *path)
{
	const char *base = tpc_text_base(path);

	return strncmp(base, "ld-", 3) == 0 || strcmp(base, "ld.so") == 0;
}

static enum tprof_unfollowed examine_elf(int fd, const Elf64_Ehdr *elf, const char *path)
{
	char loader[256];

	if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != EM_X86_64)
		return TPROF_UNFOLLOWED_MACHINE;
	for (uint32_t i = 0; i < elf->e_phnum && i < HEADERS; i++) {
		Elf64_Phdr header;
		long got;

		if (tpc_sys_pread(fd, &header, sizeof(header), elf->e_phoff + i * (uint64_t)elf->e_phentsize) !=
		    sizeof(header))
			return 0;
		if (header.p_type != PT_INTERP)
			continue;
		got = tpc_sys_pread(fd, loader, sizeof(loader) - 1, header.p_offset);
		loader[got > 0 ? got : 0] = 0;
		return strcmp(tpc_text_base(loader), "ld-linux-x86-64.so.2") ? TPROF_UNFOLLOWED_LIBC : 0;
	}
	return is_loader(path) ? 0 : TPROF_UNFOLLOWED_STATIC;
}

/* Reads the path in "#!/usr/bin/env python3". */
static bool read_interpreter(const char *text, size_t length, char *path)
{
	size_t at = 2, n = 0;

	if (length < 3 || text[0] != '#' || text[1] != '!')
		return false;
	while (at < length && (text[at] == ' ' || text[at] == '\t'))
		at++;
	while (at < length && text[at] != ' ' && text[at] != '\t' && text[at] != '\n')
		path[n++] = text[at++];
	path[n] = 0;
	return n > 0;
}

/* True: it is a script, and path is set to its interpreter. */
static bool examine_file(struct examined *examined, int fd)
{
	union {
		Elf64_Ehdr elf;
		char text[256];
	} head;
	struct stat status;
	long got;

	if (tpc_sys_fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	examined->found = true;
	got = tpc_sys_pread(fd, &head, sizeof(head), 0);
	if (got > 0 && read_interpreter(head.text, (size_t)got, examined->path))
		return true;
	if (got < (long)sizeof(head.elf) || memcmp(head.elf.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	examined->why = examine_elf(fd, &head.elf, examined->path);
	if (!examined->why)
		examined->why = examine_rights(fd, &status, examined->started->resets_ids);
	return false;
}

/* ---- PATH ---- */

static const char *path_variable(char *const *environment)
{
	for (; environment && *environment; environment++) {
		if (strncmp(*environment, "PATH=", 5) == 0)
			return *environment + 5;
	}
	return "/bin:/usr/bin";
}

static void find_in_path(struct examined *examined)
{
	const char *name = examined->started->path;

	for (const char *at = path_variable(examined->started->search), *end; at; at = *end ? end + 1 : NULL) {
		struct tpc_text text = tpc_text_in(examined->path, sizeof(examined->path));

		end = at + strcspn(at, ":");
		tpc_text_add_bytes(&text, at, (size_t)(end - at));
		if (end > at)
			tpc_text_add(&text, "/");
		tpc_text_add(&text, name);
		if (!text.cut && tpc_syscall(SYS_faccessat, AT_FDCWD, examined->path, 1 /* X_OK */, 0) == 0)
			return;
	}
	examined->path[0] = 0;
}

static void examine(void *context)
{
	struct examined *examined = context;
	const struct tpc_started *started = examined->started;
	struct tpc_text text = tpc_text_in(examined->path, sizeof(examined->path));
	int directory = started->directory;

	if (started->search && !strchr(started->path, '/'))
		find_in_path(examined);
	else
		tpc_text_add(&text, started->path);
	for (int i = 0; i <= SCRIPTS; i++) {
		bool empty = !examined->path[0] && directory >= 0;
		int fd = empty ? tpc_sys_fcntl(directory, F_DUPFD_CLOEXEC, 0)
			       : (int)tpc_syscall(SYS_openat, directory, examined->path,
						  O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
		bool script;

		if (fd < 0)
			return;
		script = examine_file(examined, fd);
		tpc_sys_close(fd);
		if (!script)
			return;
		directory = AT_FDCWD;
	}
}

enum tprof_unfollowed tpc_follow(const struct tpc_started *started)
{
	struct examined examined = { .started = started };
	const char *library = tpc_inherit_library();

	if (tpc_load(&tpc_state.mode) != TPC_MODE_NEW && tpc_sys_getpid() == tpc_state.pid)
		tpc_private_fds_from_threads(examine, &examined);
	else
		examine(&examined); /* a child has descriptors of its own */
	if (!examined.found || examined.why)
		return examined.why;
	if (!tpc_config.children)
		return TPROF_UNFOLLOWED_CHILDREN;
	if (library && tpc_syscall(SYS_faccessat, AT_FDCWD, library, 4 /* R_OK */, 0) != 0)
		return TPROF_UNFOLLOWED_LIBRARY;
	return 0;
}

/* ---- the header ---- */

enum { FREE, WRITTEN, READY }; /* tprof_untraced.state */

#define READY_TRIES 1000 /* a process that writes a note may be killed meanwhile */

/* Waits for another process that writes the note just now. Acquire pairs with the release below: it is complete. */
static bool is_ready(const struct tprof_untraced *note)
{
	for (int i = 0; i < READY_TRIES; i++) {
		if (tpc_load_acquire(&note->state) == READY)
			return true;
		tpc_syscall(SYS_sched_yield, 0, 0, 0, 0);
	}
	return false;
}

static void fill(struct tprof_untraced *note, uint32_t pid, enum tprof_unfollowed why, const char *name)
{
	size_t length = strnlen(name, sizeof(note->name) - 1);

	note->pid = pid;
	note->why = why;
	note->count = 1;
	memcpy(note->name, name, length);
	note->name[length] = 0;
	tpc_store_release(&note->state, (uint32_t)READY);
}

struct tprof_untraced *tpc_follow_note(struct tprof_header *header, uint32_t pid, enum tprof_unfollowed why,
				       const char *name)
{
	if (strlen(name) >= sizeof(header->untraced[0].name))
		name = tpc_text_base(name);
	for (size_t i = 0; i < TPC_LENGTH(header->untraced); i++) {
		struct tprof_untraced *note = &header->untraced[i];

		if (tpc_swap_if(&note->state, (uint32_t)FREE, (uint32_t)WRITTEN)) {
			fill(note, pid, why, name);
			return note;
		}
		if (is_ready(note) && note->why == why && strncmp(note->name, name, sizeof(note->name) - 1) == 0) {
			tpc_add(&note->count, 1);
			return note;
		}
	}
	tpc_add(&header->untraced_more, 1);
	return NULL;
}

void tpc_follow_undo(struct tprof_untraced *note)
{
	if (note)
		tpc_sub(&note->count, 1);
}
