/* SPDX-License-Identifier: Apache-2.0 */
#include "core/say.h"

#include "core/sys.h"
#include "core/text.h"

static dev_t stderr_device;
static ino_t stderr_inode;
static bool has_stderr;

void tp_say_start(void)
{
	struct stat status;

	has_stderr = tp_sys_fstat(2, &status) == 0;
	if (has_stderr) {
		stderr_device = status.st_dev;
		stderr_inode = status.st_ino;
	}
}

void tp_say_text(const char *text, size_t length)
{
	struct stat status;

	if (has_stderr && tp_sys_fstat(2, &status) == 0 && status.st_dev == stderr_device &&
	    status.st_ino == stderr_inode)
		tp_sys_write(2, text, length);
}

void tp_say(const char *first, const char *second)
{
	char line[512];
	struct tp_text text = tp_text_in(line, sizeof(line) - 1);

	tp_text_add(&text, "tprof: ");
	tp_text_add(&text, first);
	tp_text_add(&text, second);
	line[text.length++] = '\n';
	tp_say_text(line, text.length);
}
