/* SPDX-License-Identifier: Apache-2.0 */
#include "core/writable.h"

#include "core/config.h"
#include "core/sys.h"
#include "core/text.h"

#define NAME "TPROF_OUTPUT="

static const char *output_of(char *const *environment)
{
	for (; environment && *environment; environment++) {
		if (strncmp(*environment, NAME, strlen(NAME)) == 0)
			return *environment + strlen(NAME);
	}
	return "trace.bin";
}

/* The directory of the trace; "" if it depends on more than the environment. */
static void find_directory(const char *output, bool moves, char *to, size_t size)
{
	struct tpc_text text = tpc_text_in(to, size);
	size_t length = (size_t)(tpc_text_base(output) - output);

	if (!*output || (moves && *output != '/') || strcspn(output, "%") < length)
		return;
	tpc_text_add_bytes(&text, length ? output : "./", length ? length : 2);
	if (text.cut)
		to[0] = 0;
}

bool tpc_writable_never(char *const *environment, bool moves, bool resets_ids)
{
	const int write_and_search = 3;
	char directory[1024];
	long error;

	if (tpc_config.exe) /* it may not be meant */
		return false;
	find_directory(output_of(environment), moves, directory, sizeof(directory));
	if (!directory[0])
		return false;
	error = tpc_syscall(SYS_faccessat2, AT_FDCWD, directory, write_and_search, resets_ids ? 0 : AT_EACCESS);
	if (error == -EACCES) /* exec gives root capabilities back that it has laid down */
		return tpc_syscall(SYS_geteuid, 0, 0, 0, 0) != 0;
	return error == -EROFS || error == -ENOENT || error == -ENOTDIR;
}
