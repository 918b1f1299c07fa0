# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for mcp-connect(1)

# Adds the servers whose names begin as what was typed: _mcp_connect_servers CURRENT OPTION...  The first column of a list for a pipe
# is as wide as its head.  Not by compgen -W, which executes what it finds of $( ) in a name.
_mcp_connect_servers() {
        local cur=$1 width='' line name quoted
        shift
        while IFS= read -r line; do
                if [[ ! $width ]]; then
                        line=${line%%STATE*}
                        width=${#line}
                        continue
                fi
                name=${line:0:width}
                name=${name%"${name##*[! ]}"}
                printf -v quoted %q "$name"
                [[ $name == "$cur"* || $quoted == "$cur"* ]] && COMPREPLY+=("$quoted")
        done < <(mcpctl "$@" --no-pager list 2>/dev/null)
        return 0
}

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
                                _mcp_connect_servers "$cur" "${scope[@]}"
                        fi
                        ;;
        esac
}

complete -F _mcp_connect mcp-connect
