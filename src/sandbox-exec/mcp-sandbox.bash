# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for mcp-sandbox(1)

_mcp_sandbox() {
        local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} option='' first=1
        local options='--help --version --definition= --manifest= --name= --working-dir= --write= --network= --unix-sockets=
                --home= --env= --env-file= --strict --dry-run --json'

        # Readline takes "--option=value" for three words.
        if [[ $cur == = ]]; then
                option=$prev cur=''
        elif [[ $prev == = ]]; then
                option=${COMP_WORDS[COMP_CWORD-2]}
        elif [[ $prev == --@(definition|manifest|name|working-dir|write|network|unix-sockets|home|env|env-file) ]]; then
                option=$prev
        fi

        # Where the command begins, if it has.
        while ((first < COMP_CWORD)) && [[ ${COMP_WORDS[first]} == -* ]]; do
                [[ ${COMP_WORDS[first]} != -- ]] || break
                if [[ ${COMP_WORDS[first + 1]-} == = ]]; then
                        ((first += 2))
                fi
                ((first += 1))
        done

        COMPREPLY=()
        if ((first < COMP_CWORD)) && [[ ! $option ]]; then
                mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
                return
        fi
        case $option in
                --definition|--manifest|--write|--env-file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
                --working-dir) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
                --network) mapfile -t COMPREPLY < <(compgen -W 'unrestricted blocked' -- "$cur") ;;
                --unix-sockets) mapfile -t COMPREPLY < <(compgen -W 'none any' -f -- "$cur") ;;
                --home) mapfile -t COMPREPLY < <(compgen -W 'shared private' -- "$cur") ;;
                --env) mapfile -t COMPREPLY < <(compgen -e -- "$cur") ;;
                --name) ;;
                *)
                        if [[ $cur == -* ]]; then
                                mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
                                [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
                        else
                                mapfile -t COMPREPLY < <(compgen -c -- "$cur")
                        fi
                        ;;
        esac
}

complete -F _mcp_sandbox mcp-sandbox
