/* SPDX-License-Identifier: Apache-2.0 */
/* Where tprof-analyze keeps files between its runs: $XDG_CACHE_HOME/tprof, else ~/.cache/tprof. */
#ifndef TPROF_BASE_CACHE_FOLDER_H
#define TPROF_BASE_CACHE_FOLDER_H

/* The path of a file or folder there; the caller frees it. NULL: neither XDG_CACHE_HOME nor HOME is set. */
char *tpa_cache_path(const char *name);

/* Creates the folders that the path's last part would lie in, as far as that is possible. */
void tpa_make_folders(const char *path);

#endif
