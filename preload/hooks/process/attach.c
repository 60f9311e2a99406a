/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tprof attach` and `tprof detach` call in a program that runs already, after they have loaded libtprof.so into
 * it. They choose a moment at which the thread holds no lock of the loader or the allocator.
 */
#include "core/base.h"
#include "core/text.h"
#include "hooks/gate/pause.h"
#include "hooks/link/pending.h"
#include "hooks/process/lifecycle.h"
#include "hooks/sampling/cpu.h"

#define SETTINGS_MAX 64

const char *tprof_attach(const char *settings);
const char *tprof_detach(void);
const struct tprof_patches *tprof_patches(void);
const char *tprof_unpatched(uintptr_t at);

static bool attached; /* the tools take turns */

/* Copies them: they lie in the thread's stack. */
static char *const *copy_settings(const char *settings)
{
	static char bytes[16384];
	static char *list[SETTINGS_MAX + 1];
	struct tpc_text text = tpc_text_in(bytes, sizeof(bytes));
	size_t count = 0;

	for (; *settings && count < SETTINGS_MAX; settings += strlen(settings) + 1) {
		list[count++] = bytes + text.length;
		tpc_text_add(&text, settings);
		tpc_text_add_bytes(&text, "", 1);
	}
	list[text.cut ? 0 : count] = NULL;
	return list;
}

static const char *attach(const char *settings, const void *frame)
{
	const char *reason;

	if (attached)
		return "is attached to already: tprof detach ends that";
	tpc_pending_begin();
	reason = tpc_lifecycle_late(copy_settings(settings));
	tpc_pending_end();
	if (reason)
		return reason;
	tpc_resume(frame);
	attached = true;
	return NULL;
}

/*
 * `settings`: NAME=value of the TPROF_* variables, each with its NUL, and an empty one. Returns NULL when recording is on, else why it is not.
 */
TPC_EXPORT const char *tprof_attach(const char *settings)
{
	const char *reason;

	tpc_cpu_hold();
	reason = attach(settings, __builtin_frame_address(0));
	tpc_cpu_go_on();
	return reason;
}

/* libtprof.so stays, as threads may be in it. Returns NULL, or what is wrong. */
TPC_EXPORT const char *tprof_detach(void)
{
	const char *wrong;

	tpc_cpu_hold();
	wrong = attached ? tpc_lifecycle_leave(__builtin_frame_address(0)) : "is not attached to";

	attached = attached && wrong;
	if (!wrong)
		tpc_pending_withdraw();
	tpc_cpu_go_on();
	return wrong;
}

/* That patch could not be written. */
TPC_EXPORT const char *tprof_unpatched(uintptr_t at)
{
	tpc_pending_refuse(at);
	return NULL;
}

/* What the caller is to write into code, or to write back, after either. */
TPC_EXPORT const struct tprof_patches *tprof_patches(void)
{
	return tpc_pending_all();
}
