/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/ctl.h"

#include "attach/target.h"
#include "base/now.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "commands/search/leakcheck.h"
#include "report/text/process_listing.h"
#include "report/text/text.h"
#include "trace/control.h"

enum { DONE = 0, NOT_YET = 1, USAGE = 2, NO_TRACE = 3 };

#define WAIT_MS 2000

static const char usage[] =
	"usage: tprof ctl PID start|stop|mark TEXT|snapshot [TEXT]|leakcheck|holders|status|cancel\n";

static const char help[] =
	"Controls the recording of a running program that was started with libtprof.so, through the header page of its "
	"trace.\n"
	"The program is not stopped: it reads the request at its next event, and a program that waits is woken to read "
	"it.\n"
	"\n"
	"  stop            pause recording: allocations and ops then cost a load and a branch\n"
	"  start           resume recording\n"
	"  mark TEXT       set a mark on the timeline, 48 bytes at most\n"
	"  snapshot [TEXT] set a mark and sample RSS; --to mark:TEXT reports the state then (TEXT: snapshot 1, 2, "
	"...)\n"
	"  leakcheck       search a fork for blocks that nothing points to; tprof-analyze leaks shows them\n"
	"  holders         search a fork for what keeps blocks alive; tprof-analyze holders shows it\n"
	"  status          print what is recorded and lost, and how large the trace is\n"
	"  cancel          take back a request that was not answered yet\n"
	"\n"
	"exit status: 0; 1 the program did not answer within 2 seconds (it will at its next event, unless the request "
	"is\n"
	"taken back, or another one replaces it); 2 wrong usage;\n"
	"3 the process has no trace, or is another user's\n";

/* ---- status ---- */

static void line(const char *name, const char *value)
{
	printf("  %-11s %s\n", name, value);
}

/* A field of /proc/PID/status that is in KiB, in bytes; 0: it is missing. */
static uint64_t status_bytes(pid_t pid, const char *name)
{
	char value[64];

	return tpa_target_status(pid, name, value, sizeof(value)) ? strtoull(value, NULL, 10) << 10 : 0;
}

static void print_state(const struct tprof_header *header)
{
	const char *cause = header->stop_cause ? tpa_lost_name(header->stop_cause - 1) : NULL;
	char text[128];

	if (header->flags & TPROF_FLAG_STOPPED)
		snprintf(text, sizeof(text), "ended early: %s", cause ? cause : "unknown cause");
	else
		snprintf(text, sizeof(text), "%s", header->recording == TPROF_RECORDING_ON ? "on" : "paused");
	line("recording", text);
	if (header->control_asked != header->control_taken)
		line("request", "one waits for the program's next event");
}

static void print_losses(const struct tprof_header *header)
{
	uint64_t lost = 0;
	char text[128];

	for (unsigned i = 0; i < TPROF_LOST_CAUSES; i++) {
		const char *name = tpa_lost_name(i);

		if (!header->lost[i])
			continue;
		lost += header->lost[i];
		snprintf(text, sizeof(text), "%s: %s", name ? name : "unknown cause", tpa_count(header->lost[i]).text);
		line("lost", text);
	}
	if (!lost)
		line("lost", "nothing");
	if (header->chunks_aside)
		line("aside", tpa_bytes((uint64_t)header->chunks_aside * header->chunk_size, false).text);
}

static int print_status(const struct tpa_control *control)
{
	const struct tprof_header *header = control->header;
	struct stat file;
	char text[256];

	printf("process %d records to %s\n", (int)control->pid, control->path);
	print_state(header);
	snprintf(text, sizeof(text), "%s ago", tpa_time(tpa_now_ns(CLOCK_REALTIME) - header->start.unix_ns).text);
	line("started", text);
	snprintf(text, sizeof(text), "%s in %s chunk%s",
		 tpa_bytes(fstat(control->fd, &file) == 0 ? (uint64_t)file.st_size : 0, false).text,
		 tpa_count(header->chunks).text, tpa_plural(header->chunks));
	line("trace", text);
	print_losses(header);
	snprintf(text, sizeof(text), "%s seen, %s module%s, %s pointer%s hooked", tpa_count(header->threads).text,
		 tpa_count(header->modules).text, tpa_plural(header->modules), tpa_count(header->slots).text,
		 tpa_plural(header->slots));
	line("threads", text);
	snprintf(text, sizeof(text), "RSS %s, address space %s; the collector's own %s",
		 tpa_bytes(status_bytes(control->pid, "VmRSS"), false).text,
		 tpa_bytes(status_bytes(control->pid, "VmSize"), false).text,
		 tpa_bytes(header->collector_bytes, false).text);
	line("memory", text);
	return DONE;
}

/* ---- requests ---- */

static int ask(struct tpa_control *control, enum tprof_control what, const char *text, const char *done)
{
	switch (tpa_control_ask(control, what, text, WAIT_MS)) {
	case TPA_CONTROL_DONE:
		printf("process %d: %s\n", (int)control->pid, done);
		return DONE;
	case TPA_CONTROL_WAITING:
		fprintf(stderr,
			"tprof: process %d did not answer in %d s: %s\n"
			"the request stands until its next event; tprof ctl %d cancel takes it back\n",
			(int)control->pid, WAIT_MS / 1000, tpa_control_reason(control), (int)control->pid);
		return NOT_YET;
	case TPA_CONTROL_BUSY:
		fprintf(stderr, "tprof: process %d: another request is in progress; try again later\n",
			(int)control->pid);
		return NOT_YET;
	case TPA_CONTROL_CANCELLED:
		fprintf(stderr, "tprof: process %d: the request was taken back\n", (int)control->pid);
		return NOT_YET;
	default:
		fprintf(stderr, "tprof: process %d has ended\n", (int)control->pid);
		return NO_TRACE;
	}
}

static int cancel(const struct tpa_control *control)
{
	bool stands = tpa_control_stands(control), taken = tpa_control_cancel(control);

	printf("process %d: %s\n", (int)control->pid,
	       taken	? "the request is taken back"
	       : stands ? "the request is being carried out"
			: "no request waits");
	return DONE;
}

static int snapshot(struct tpa_control *control, const char *text)
{
	char name[TPROF_CONTROL_TEXT], done[128];

	snprintf(name, sizeof(name), "snapshot %" PRIu32, control->header->control_asked + 1);
	if (!text)
		text = name;
	snprintf(done, sizeof(done), "marked; tprof-analyze leaks --to 'mark:%.48s' TRACE shows what was live", text);
	return ask(control, TPROF_CONTROL_SNAPSHOT, text, done);
}

static int command(struct tpa_control *control, const char *name, const char *text)
{
	uint32_t recording = control->header->recording;

	if (strcmp(name, "status") == 0)
		return print_status(control);
	if (control->header->flags & TPROF_FLAG_STOPPED) {
		fprintf(stderr, "tprof: process %d: recording ended early; tprof ctl %d status says why\n",
			(int)control->pid, (int)control->pid);
		return NO_TRACE;
	}
	if (strcmp(name, "cancel") == 0)
		return cancel(control);
	if (strncmp(name, "leakcheck", 9) == 0)
		return tpa_leakcheck(control, name[9] != 0);
	if (strncmp(name, "holders", 7) == 0)
		return tpa_holders_check(control, name[7] != 0);
	if (strcmp(name, "start") == 0)
		return ask(control, TPROF_CONTROL_START, NULL,
			   recording == TPROF_RECORDING_ON ? "recorded already" : "records");
	if (strcmp(name, "stop") == 0)
		return ask(control, TPROF_CONTROL_STOP, NULL,
			   recording == TPROF_RECORDING_PAUSED ? "was paused already" : "paused");
	if (strcmp(name, "mark") == 0)
		return ask(control, TPROF_CONTROL_MARK, text, "marked");
	return snapshot(control, text);
}

/* Is there such a command, and does it take this number of arguments? */
static bool fits(const char *name, int arguments)
{
	static const struct {
		const char *name;
		int least, most;
	} commands[] = {
		{ "start", 0, 0 },	   { "stop", 0, 0 },	  { "status", 0, 0 },
		{ "mark", 1, 1 },	   { "leakcheck", 0, 0 }, { "leakcheck-taken", 0, 0 },
		{ "snapshot", 0, 1 },	   { "cancel", 0, 0 },	  { "holders", 0, 0 },
		{ "holders-taken", 0, 0 },
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return arguments >= commands[i].least && arguments <= commands[i].most;
	return false;
}

int tpa_ctl(int argc, char **argv)
{
	struct tpa_control control;
	char *error = NULL, *end;
	long pid;
	int status;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		printf("%s\n%s", usage, help);
		return DONE;
	}
	pid = argc > 1 && isdigit((unsigned char)argv[1][0]) ? strtol(argv[1], &end, 10) : 0;
	if (argc < 3 || pid <= 0 || pid > INT32_MAX || *end || !fits(argv[2], argc - 3)) {
		fputs(usage, stderr);
		return USAGE;
	}
	if (!tpa_control_open(&control, (pid_t)pid, &error)) {
		fprintf(stderr, "tprof: %s\n", error);
		free(error);
		if (strcmp(argv[2], "leakcheck-taken") == 0 && tpa_control_is_forbidden((pid_t)pid))
			return TPROF_STATUS_FORBIDDEN;
		return NO_TRACE;
	}
	status = command(&control, argv[2], argc > 3 ? argv[3] : NULL);
	tpa_control_close(&control);
	return status;
}
