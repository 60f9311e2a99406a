# SPDX-License-Identifier: Apache-2.0
# Bash completion of tprof, tprof-analyze and tprof-fleet: the programs say what may come next.

_tprof()
{
	local word=${COMP_WORDS[COMP_CWORD]} line words=("${COMP_WORDS[@]:1:COMP_CWORD}") typed
	local count=${#words[@]}

	typed=$word
	# Bash takes `--color=au` for three words.
	if [ "$word" = = ]; then
		word='' typed=${words[count - 2]}=
		words=("${words[@]:0:count - 2}" "$typed")
	elif [ "$count" -ge 3 ] && [ "${words[count - 2]}" = = ]; then
		typed=${words[count - 3]}=$word
		words=("${words[@]:0:count - 3}" "$typed")
	fi
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word") ;;
		:commands) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$word") ;;
		"$typed"*)
			line=${line%%$'\t'*}
			COMPREPLY+=("${line#"${typed%"$word"}"}")
			;;
		esac
	done < <("${COMP_WORDS[0]}" help --complete "${words[@]}" 2>/dev/null)
}

complete -o filenames -F _tprof tprof
complete -o filenames -F _tprof tprof-analyze
complete -o filenames -F _tprof tprof-fleet
