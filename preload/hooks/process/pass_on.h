/* SPDX-License-Identifier: Apache-2.0 */
/* What pass_on.S does after it asked: goes on to the real function, or gives an answer in its place. */
#ifndef TPROF_HOOKS_PROCESS_PASS_ON_H
#define TPROF_HOOKS_PROCESS_PASS_ON_H

struct tpc_asked {
	void *jump;   /* go on there; NULL: return `answer` */
	void *answer; /* in rdx */
};

#endif
