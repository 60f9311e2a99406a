/* SPDX-License-Identifier: Apache-2.0 */
/* What stands for several traces on the command line: bundles, and folders. */
#ifndef TPROF_COMMANDS_LINE_INPUTS_H
#define TPROF_COMMANDS_LINE_INPUTS_H

#include "commands/line/options.h"

/*
 * Replaces bundles among the traces and baselines by the traces in them (trace/bundle.h), and folders by those in and below them,
 * sorted, bundles last; other files in a folder are passed over, and so are copies of a trace in it (compact, or in a bundle). Says on stderr what can't be read. diff OLD NEW, of which one is a bundle or a
 * folder, becomes diff --baseline OLD... NEW... .
 */
void tpa_inputs_expand(struct tpa_options *options);
bool tpa_is_folder(const char *file);
void tpa_inputs_free(struct tpa_options *options);

#endif
