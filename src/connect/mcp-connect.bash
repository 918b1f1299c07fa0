# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for mcp-connect(1)

_mcp_connect() {
        local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} word i
        local -a scope=()
        local options='--user --system --host --env --timeout --quiet --help --version'

        for ((i = 1; i < COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                [[ $word == --@(user|system) ]] && scope=("$word")
        done
        COMPREPLY=()
        case $prev in
                --env) mapfile -t COMPREPLY < <(compgen -e -- "$cur") ;;
                -H|--host) mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur") ;;
                --timeout) ;;
                *)
                        if [[ $cur == -* ]]; then
                                mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
                        else
                                # The first column of a list for a pipe; names with blanks cannot be completed.
                                mapfile -t COMPREPLY < <(compgen -W "$(mcpctl "${scope[@]}" --no-pager list 2>/dev/null |
                                        while read -r word _; do [[ $word == NAME ]] || printf '%s\n' "$word"; done)" -- "$cur")
                        fi
                        ;;
        esac
}

complete -F _mcp_connect mcp-connect
