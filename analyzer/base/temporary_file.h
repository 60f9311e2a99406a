/* SPDX-License-Identifier: Apache-2.0 */
/* A file for what does not fit into memory. */
#ifndef TPROF_BASE_TEMPORARY_FILE_H
#define TPROF_BASE_TEMPORARY_FILE_H

/*
 * Opens a new file without a name, to be read and written, in $TMPDIR or, if that is not set, in the folder. It is gone once it is
 * closed. -1: there can be none.
 */
int tpa_temporary_file(const char *folder);

#endif
