/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/fold.h"

#include "base/now.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/line/op_names.h"
#include "commands/input/session.h"
#include "model/replay/fold.h"

#define OFTEN_NS 5000000       /* between two looks at a ring that fills quickly, */
#define SELDOM_NS 50000000     /* and at others */
#define SHARE 20	       /* an attempt that freed nothing is followed by a rest of so many times its length */
#define REST_MOST_NS 900000000 /* the program looks for a sign of life every 3 s */
#define OPEN_TRIES 20	       /* of SELDOM_NS */

/* Tells the program that the ring has a folder. */
static void say_alive(struct tpa_ring *ring)
{
	__atomic_store_n(&ring->header->ring_seen_ns, tpa_now_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
}

static bool runs(const struct tpa_ring *ring, const struct tpa_trace *trace)
{
	return __atomic_load_n(&ring->header->end, __ATOMIC_ACQUIRE) == TPROF_END_NONE && tpa_trace_lives(trace);
}

/* An attempt that frees nothing is repeated the later the longer it took, unless threads wait for room. */
static void rest(const struct tpa_ring *ring, uint64_t took_ns)
{
	uint64_t ns = SELDOM_NS + SHARE * took_ns;

	if (tpa_ring_is_waited_for(ring))
		ns = OFTEN_NS;
	else if (ns > REST_MOST_NS)
		ns = REST_MOST_NS;
	nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
}

static bool fold(struct tpa_session *session, struct tpa_ring *ring)
{
	struct tpa_replay_options options = tpa_session_replay_options(session, TPA_GROUP_STACK);
	char *error = NULL;
	bool good = true;

	options.batches = true;
	while (good && runs(ring, session->traces[0])) {
		uint64_t began = tpa_now_ns(CLOCK_MONOTONIC);
		size_t freed = 0;

		say_alive(ring);
		if (tpa_fold_is_due(ring)) {
			tpa_session_drop_run(session);
			good = tpa_fold_once(session->traces[0], ring, &options, &freed, &error);
		}
		if (!freed)
			rest(ring, tpa_now_ns(CLOCK_MONOTONIC) - began);
	}
	free(error);
	return good;
}

/* The program makes the ring directly after the file. */
static bool open_ring(struct tpa_ring *ring, int fd)
{
	for (int i = 0; i < OPEN_TRIES; i++) {
		if (tpa_ring_open(ring, fd))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = SELDOM_NS }, NULL);
	}
	return false;
}

/*
 * The replay is that of `live`: it leaves out no event and needs no second pass over them, so any command can go on from its
 * checkpoint.
 */
static int fold_file(const char *file, int fd, pid_t pid)
{
	struct tpa_options options = {
		.command = tpa_command_find("live"), .traces = &file, .trace_count = 1, .in_place = true
	};
	struct tpa_session session;
	struct tpa_ring ring;
	bool good;

	if (!open_ring(&ring, fd) || ring.header->pid != (uint32_t)pid)
		return TPA_EXIT_TRACE;
	ring.header->ring_folder = (uint32_t)getpid();
	say_alive(&ring);
	tpa_ring_clean(&ring);
	good = tpa_session_open(&session, &options) == TPA_EXIT_OK;
	if (good) {
		tpa_op_names(session.traces[0], NULL);
		good = fold(&session, &ring);
		tpa_session_close(&session, 0);
	}
	tpa_ring_close(&ring);
	return good ? TPA_EXIT_OK : TPA_EXIT_TRACE;
}

int tpa_fold(int argc, char **argv)
{
	pid_t pid = argc == 3 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	int fd = pid > 0 ? open(argv[2], O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1, status = TPA_EXIT_USAGE;
	sigset_t none;

	sigemptyset(&none); /* the program's thread had blocked them all */
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (fd >= 0 && tpa_ring_become_folder(fd))
		status = fold_file(argv[2], fd, pid);
	if (fd >= 0)
		close(fd);
	return status;
}
