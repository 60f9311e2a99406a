# SPDX-License-Identifier: Apache-2.0
# Fish completion of tprof, tprof-analyze and tprof-fleet: the programs say what may come next.

function __tprof_words
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l before $words[2..]
    for line in ($words[1] help --complete $before "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :commands
                test -n "$current"; and complete --do-complete "$current"
            case '*'
                echo $line
        end
    end
end

complete --command tprof --no-files --arguments '(__tprof_words)'
complete --command tprof-analyze --no-files --arguments '(__tprof_words)'
complete --command tprof-fleet --no-files --arguments '(__tprof_words)'
