#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Floors call only downward: no file includes a header of a floor above its own, nor of the other half.
# floors.sh [ROOT]; says each include that goes up and fails.
root=${1:-.}
cd "$root" || exit 2

# Lowest first; what stands on one floor with another is parted by a colon.
preload="core stacks hooks"
analyzer="base trace symbols:model machine report commands"

check() { # half floors
	find "$1" -name '*.[ch]' -exec grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + |
		awk -v half="$1" -v floors="$2" '
		BEGIN {
			n = split(floors, f, " ")
			for (i = 1; i <= n; i++) {
				m = split(f[i], same, ":")
				for (j = 1; j <= m; j++)
					level[same[j]] = i
			}
		}
		{
			file = $0; sub(/:.*/, "", file)
			header = $0; sub(/^[^"]*"/, "", header); sub(/".*/, "", header)
			split(file, p, "/"); split(header, h, "/")
			# A file that lies beside the floors (main.c) is above them all.
			own = p[2] in level ? level[p[2]] : p[3] == "" ? n + 1 : 0
			if (!own)
				why = "lies on no known floor"
			else if (h[1] == "tprof" || header == "tprof.h")
				next
			else if (!(h[1] in level) || header ~ /\.\./)
				why = "no header of a floor of " half
			else if (level[h[1]] > own)
				why = "calls upward"
			else if (level[h[1]] == own && h[1] != p[2])
				why = "another room of the same floor"
			else
				next
			print file ": includes " header ": " why
			bad = 1
		}
		END {
			if (!NR) { print half ": no includes found"; bad = 1 }
			exit bad
		}'
}

failed=0
check preload "$preload" || failed=1
check analyzer "$analyzer" || failed=1
exit $failed
