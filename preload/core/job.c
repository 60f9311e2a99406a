/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job.h"

#include "core/arguments.h"
#include "core/sys.h"

#include <fcntl.h>
#include <sys/timex.h>
#include <sys/utsname.h>

/* Of Open MPI, PMI (MPICH and its kin), PMIx, Slurm, and torchrun. */
static const char *const variables[] = {
	"OMPI_COMM_WORLD_RANK",
	"OMPI_COMM_WORLD_SIZE",
	"OMPI_COMM_WORLD_LOCAL_RANK",
	"OMPI_MCA_ess_base_jobid",
	"PMI_RANK",
	"PMI_SIZE",
	"PMI_JOBID",
	"MPI_LOCALRANKID",
	"PMIX_RANK",
	"PMIX_NAMESPACE",
	"SLURM_PROCID",
	"SLURM_NTASKS",
	"SLURM_LOCALID",
	"SLURM_NODEID",
	"SLURM_JOB_ID",
	"SLURM_STEP_ID",
	"RANK",
	"WORLD_SIZE",
	"LOCAL_RANK",
	"TORCHELASTIC_RUN_ID",
};

static void add(struct tpc_text *to, const char *name, const char *value)
{
	if (!value[0])
		return;
	tpc_text_add(to, name);
	tpc_text_add(to, "=");
	tpc_text_add_bytes(to, value, strlen(value) + 1);
}

static void add_host(struct tpc_text *to)
{
	struct utsname names;

	if (tpc_syscall(SYS_uname, &names, 0, 0, 0) == 0)
		add(to, "HOST", names.nodename);
}

/* Of several hierarchies (version 1), the first in which the process is in another group than the root. */
static void add_cgroup(struct tpc_text *to)
{
	char text[2048], *line = text;
	int fd = tpc_sys_open("/proc/self/cgroup", O_RDONLY, 0);
	long got = fd < 0 ? 0 : tpc_sys_read(fd, text, sizeof(text) - 1);
	const char *group = "";

	if (fd >= 0)
		tpc_sys_close(fd);
	text[got > 0 ? got : 0] = 0;
	while (*line) { /* NUMBER:CONTROLLERS:PATH */
		char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end, *path = strchr(line, ':');

		*end = 0;
		path = path ? strchr(path + 1, ':') : NULL;
		if (path && (!group[0] || strcmp(group, "/") == 0))
			group = path + 1;
		line = next;
	}
	add(to, "CGROUP", group);
}

/* Those that tell a rank. RANK alone may be anything: torchrun tells the number of ranks as well. */
static const char *const ranks[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID" };

static void add_number(struct tpc_text *to, const char *name, long value)
{
	char digits[24];
	struct tpc_text text = tpc_text_in(digits, sizeof(digits));

	tpc_text_add_number(&text, value > 0 ? (uint64_t)value : 0);
	add(to, name, digits);
}

/* What the kernel was told of its clock by NTP's daemon. A sandbox may refuse to say it. */
static void add_ntp(struct tpc_text *to)
{
	struct timex clock = { .modes = 0 };
	long state = tpc_syscall(SYS_adjtimex, &clock, 0, 0, 0);

	if (state < 0)
		return;
	add(to, "NTP_SYNCHRONISED", state == TIME_ERROR || clock.status & STA_UNSYNC ? "0" : "1");
	add_number(to, "NTP_MAX_ERROR_US", clock.maxerror);
	add_number(to, "NTP_ESTIMATED_ERROR_US", clock.esterror);
}

static bool is_one_of(const char *variable, const char *const *names, size_t count)
{
	size_t length = strcspn(variable, "=");

	for (size_t i = 0; i < count; i++) {
		if (strlen(names[i]) == length && memcmp(variable, names[i], length) == 0)
			return true;
	}
	return false;
}

void tpc_job_describe(struct tpc_text *to)
{
	char *const *environment = tpc_environment();

	add_host(to);
	add_cgroup(to);
	for (; environment && *environment; environment++) {
		if (is_one_of(*environment, variables, TPC_LENGTH(variables)))
			tpc_text_add_bytes(to, *environment, strlen(*environment) + 1);
	}
	if (tpc_job_has_rank())
		add_ntp(to);
}

bool tpc_job_has_rank(void)
{
	static const char *const torchrun[] = { "RANK", "WORLD_SIZE" };
	char *const *environment = tpc_environment();
	size_t found = 0;

	for (; environment && *environment; environment++) {
		if (is_one_of(*environment, ranks, TPC_LENGTH(ranks)))
			return true;
		found += is_one_of(*environment, torchrun, TPC_LENGTH(torchrun));
	}
	return found == TPC_LENGTH(torchrun);
}
