# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for mcpctl(1)

# Adds the servers whose names begin as what was typed: _mcpctl_servers CURRENT OPTION...  The first column of a list for a pipe
# is as wide as its head.  Not by compgen -W, which executes what it finds of $( ) in a name.
_mcpctl_servers() {
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

_mcpctl() {
        local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} word verb='' operands=0 i
        local -a scope=()
        local verbs='list status show check why doctor probe tools call connect add remove enable disable edit start stop restart run import export logs'
        local options='--user --system --host= --via= --json --no-pager --root= --timeout= --quiet --follow --lines= --from= --for= --name= --dry-run --yes --force --inline-secrets --rewrite --env= --env-file= --write= --network= --strict --path= --access= --connect= --socket= --help --version'

        for ((i = 1; i < COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                case $word in
                        --user|--system) scope=("$word") ;;
                        -*|=) ;;
                        *)
                                [[ ${COMP_WORDS[i-1]} == = || ${COMP_WORDS[i-1]} == -n ]] && continue
                                if [[ $verb ]]; then operands=$((operands + 1)); else verb=$word; fi
                                ;;
                esac
        done

        COMPREPLY=()
        if [[ $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --access ]]; then
                mapfile -t COMPREPLY < <(compgen -W 'read write execute' -- "$cur")
        elif [[ $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --network ]]; then
                mapfile -t COMPREPLY < <(compgen -W 'blocked unrestricted' -- "$cur")
        elif [[ $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --@(root|write|path|socket|env-file) ]]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        elif [[ $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --@(from|for) ]]; then
                mapfile -t COMPREPLY < <(compgen -W 'claude-desktop claude-code cursor vscode zed windsurf gemini codex mcpproxy cline roo kiro copilot opencode registry' -- "$cur")
        elif [[ $cur == -* ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
                [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
        elif [[ ! $verb ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$cur")
        elif [[ $verb == check ]]; then
                mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$cur")
                _mcpctl_servers "$cur" "${scope[@]}"
        elif [[ $verb == call && $operands == 2 ]]; then
                mapfile -t COMPREPLY < <(compgen -P @ -f -- "${cur#@}")
        elif [[ $verb == import ]]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        elif [[ $verb == run || ( $verb == add && $operands -gt 0 ) ]]; then
                mapfile -t COMPREPLY < <(compgen -c -- "$cur")
        elif [[ $verb == add ]]; then
                :
        elif [[ $verb == @(status|export|start|stop|restart) || ( $verb != @(list|doctor) && $operands == 0 ) ]]; then
                _mcpctl_servers "$cur" "${scope[@]}"
        fi
}

complete -F _mcpctl mcpctl
