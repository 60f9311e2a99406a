/* SPDX-License-Identifier: Apache-2.0 */
/* What stands for several traces on the command line: bundles, and folders. */
#ifndef TPROF_COMMANDS_INPUTS_H
#define TPROF_COMMANDS_INPUTS_H

#include "commands/options.h"

/*
 * Replaces bundles among the traces and baselines by the traces in them (trace/bundle.h), of bundle also folders by those below
 * them, sorted. Says on stderr what can't be read. diff OLD NEW, of which one is a bundle, becomes diff --baseline OLD... NEW... .
 */
void tpa_inputs_expand(struct tpa_options *options);
void tpa_inputs_free(struct tpa_options *options);

#endif
