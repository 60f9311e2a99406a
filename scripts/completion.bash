# SPDX-License-Identifier: Apache-2.0
# Bash completion of tprof and tprof-analyze. What a program takes, its own --help says.

_tprof_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "${COMP_WORDS[COMP_CWORD]}")
}

_tprof_files()
{
	mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
}

# Options that the help on stdin has lines for.
_tprof_options()
{
	grep -E '^ {2,6}-' | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

_tprof()
{
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}

	case $previous in
	tprof) _tprof_words "run attach detach ctl live help --help --version --python" ;;
	--alloc) _tprof_words "trace sample:524288 off" ;;
	--children) _tprof_words "0 1" ;;
	--start) _tprof_words "on off" ;;
	--python) _tprof_words "1 alloc off" ;;
	--rules) _tprof_files ;;
	-o | --output) _tprof_files ;;
	*)
		case $word in
		-*) _tprof_words "$("${COMP_WORDS[0]}" --help | _tprof_options)" ;;
		*) mapfile -t COMPREPLY < <(compgen -c -f -- "$word") ;;
		esac
		;;
	esac
}

_tprof_analyze()
{
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
	local commands help

	help=$("$program" --help)
	commands=$(sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p' <<< "$help")
	if [ "$COMP_CWORD" -gt 1 ] && grep -qxF -- "${COMP_WORDS[1]}" <<< "$commands"; then
		help=$("$program" "${COMP_WORDS[1]}" --help)
	fi
	case $previous in
	--by | --sort | --format | --table) _tprof_words "$(sed -n "s/^  $previous .* one of: //p" <<< "$help")" ;;
	--color) _tprof_words "auto always never" ;;
	--what) _tprof_words "peak allocated unfreed temporary cpu" ;;
	--language) _tprof_words "mixed python native" ;;
	*)
		case $word in
		-*) _tprof_words "$(_tprof_options <<< "$help")" ;;
		*)
			_tprof_files
			if [ "$COMP_CWORD" = 1 ]; then
				mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$commands" -- "$word")
			fi
			;;
		esac
		;;
	esac
}

complete -o filenames -F _tprof tprof
complete -o filenames -F _tprof_analyze tprof-analyze
