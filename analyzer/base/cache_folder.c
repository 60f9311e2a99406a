/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cache_folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

char *tpa_cache_path(const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && cache[0] == '/')
		return tpa_format("%s/tprof/%s", cache, name);
	if (home && home[0] == '/')
		return tpa_format("%s/.cache/tprof/%s", home, name);
	return NULL;
}

void tpa_make_folders(const char *path)
{
	char *folder = tpa_strdup(path);

	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0777);
		*slash = '/';
	}
	free(folder);
}
