/* SPDX-License-Identifier: Apache-2.0 */
/* What pass_on.S does next: jumps to the real function, or returns an answer instead. */
#ifndef TPROF_HOOKS_PROCESS_PASS_ON_H
#define TPROF_HOOKS_PROCESS_PASS_ON_H

struct tpc_asked {
	void *jump;   /* jump there; NULL: return `answer` */
	void *answer; /* in rdx */
};

#endif
