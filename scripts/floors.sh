#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the includes of both halves: no file includes a header of a floor above its own, of a neighbour on its floor, or of the
# other half; the same holds for the rooms of a floor. More than two files that include each other in a circle need a reason:
# a comment "circle: WHY" in one of them. A file is a .c with its .h.
# floors.sh [ROOT]; prints each violation and fails.
root=${1:-.}
cd "$root" || exit 2
failed=0

# The includes of a half: "file header", a line each. offsets.c describes structures of all floors to the assembly, and is part of
# no program.
includes() {
	find "$1" -name '*.[ch]' ! -name offsets.c -exec grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + |
		sed 's/:[^"]*"/ /; s/".*//'
}

# check FOLDER ROOMS: the rooms lowest first, with a colon between those that stand beside each other.
check() {
	includes "$1" | awk -v folder="$1" -v rooms="$2" '
		# A room may lie within another one (ops/told).
		function room(outer, next_) { return (outer "/" next_) in level ? outer "/" next_ : outer }
		BEGIN {
			n = split(rooms, f, " ")
			for (i = 1; i <= n; i++) {
				m = split(f[i], same, ":")
				for (j = 1; j <= m; j++)
					level[same[j]] = i
			}
			inner = folder
			inner = sub(/^[^\/]*\//, "", inner) ? inner "/" : ""
		}
		{
			header = $2
			if (header ~ /^tprof(\/|\.h$)/ || (inner && index(header, inner) != 1))
				next
			header = substr(header, length(inner) + 1)
			split(substr($1, length(folder) + 2), p, "/")
			split(header, h, "/")
			# A file that lies beside the rooms (main.c) is above them all.
			from = room(p[1], p[2])
			to = room(h[1], h[2])
			own = from in level ? level[from] : p[2] == "" ? n + 1 : 0
			if (!own)
				why = "lies in no known room of " folder
			else if ((!(to in level) && (h[2] != "" || !inner)) || header ~ /\.\./)
				why = "no header of a room of " folder
			else if (to in level && level[to] > own)
				why = "calls upward"
			else if (to in level && level[to] == own && to != from)
				why = "another room of the same floor"
			else
				next
			print $1 ": includes " $2 ": " why
			bad = 1
		}
		END {
			if (!NR) { print folder ": no includes found"; bad = 1 }
			exit bad
		}' || failed=1
}

# circles FOLDER: files of a floor that include each other, over any number of others.
circles() {
	{
		grep -rl --include='*.[ch]' 'circle: ' "$1" | sed 's/^/explained /'
		includes "$1"
	} | awk -v half="${1%%/*}" '
		{ for (i = 1; i <= 2; i++) sub(/\.[chS]$/, "", $i) }
		$1 == "explained" { explained[$2]; next }
		{ to = half "/" $2; if (to != $1) { reach[$1, to]; unit[$1]; unit[to] } }
		END {
			for (k in unit)
				for (i in unit)
					if ((i, k) in reach)
						for (j in unit)
							if ((k, j) in reach)
								reach[i, j]
			for (i in unit) {
				names = i; count = 1; good = i in explained
				for (j in unit)
					if (i != j && (i, j) in reach && (j, i) in reach) {
						seen[j]; names = names " " j; count++; good = good || j in explained
					}
				if (count > 2 && !good && !(i in seen)) {
					print "circle of files: " names
					bad = 1
				}
			}
			exit bad
		}' || failed=1
}

check preload "arch core stacks hooks"
check preload/hooks "link leakcheck python gate sampling memory ops ops/told ops/presets process"
check analyzer "base compact:attach trace symbols:model machine:import report export commands"
check analyzer/model "options.h stats:flop samples ops:steps heap growth ranks result replay holders"
check analyzer/report "rows text:json html:export"
check analyzer/commands "line input parts:search"
# A circle lies within a floor.
for floor in analyzer/attach analyzer/base analyzer/compact analyzer/trace analyzer/symbols analyzer/model analyzer/machine analyzer/import analyzer/report analyzer/export analyzer/commands \
	preload/arch preload/core preload/stacks preload/hooks; do
	circles "$floor"
done
exit $failed
