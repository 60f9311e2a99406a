# SPDX-License-Identifier: Apache-2.0
# Bash completion of tprof and tprof-analyze.

_tprof_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "${COMP_WORDS[COMP_CWORD]}")
}

_tprof_files()
{
	mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
}

_tprof()
{
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}

	case $previous in
	tprof) _tprof_words "run ctl --help --version" ;;
	--alloc) _tprof_words "trace sample:524288 off" ;;
	--children) _tprof_words "0 1" ;;
	-o | --output) _tprof_files ;;
	*)
		case $word in
		-*) _tprof_words "--output --alloc --cpu --ops --step --counters --start --python --depth --children --exe --verbose --help" ;;
		*) mapfile -t COMPREPLY < <(compgen -c -f -- "$word") ;;
		esac
		;;
	esac
}

_tprof_analyze()
{
	local commands="summary peak leaks hotspots ops steps threads lines roofline compare diff check timeline flamegraph export info dump"
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}

	case $previous in
	--by) _tprof_words "stack function line module thread size op step layer" ;;
	--sort)
		_tprof_words "bytes blocks largest allocations temporary short-lived total self calls mean p99 alloc
			time high growth step cpu ops frees peak unfreed first thread"
		;;
	--color) _tprof_words "auto always never" ;;
	--what) _tprof_words "peak allocated unfreed temporary cpu" ;;
	--language) _tprof_words "mixed python native" ;;
	--format) _tprof_words "folded chrome" ;;
	*)
		case $word in
		-*)
			_tprof_words "--json --top --sort --by --filter --thread --process --from --to --suppressions
				--debug-dir --color --what --format --callers --callees --shapes --tree --machine --measure --limit --max-peak --max-unfreed --max-rss --max-allocations --max-growth
				--max-regress --baseline --rules --junit --language --interpreter --exact --output --help --version"
			;;
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
