#compdef mcpctl
# SPDX-License-Identifier: LGPL-2.1-or-later
# zsh completion for mcpctl(1)

_mcpctl_servers() {
    local -a scope lines servers
    local name width
    scope=(${(M)words:#--(user|system)})
    # The first column of a list for a pipe is as wide as its head.
    lines=(${(f)"$(mcpctl $scope --no-pager list 2>/dev/null)"})
    width=${#${lines[1]%%STATE*}}
    for name in $lines[2,-1]; do
        name=$name[1,width]
        servers+=("${name%%${name##*[^ ]}}")
    done
    compadd -a servers
}

_mcpctl() {
    local -a verbs=(list status show check why doctor probe tools call connect add remove enable disable edit start stop restart run import export logs)
    local clients=(claude-desktop claude-code cursor vscode zed windsurf gemini codex mcpproxy cline roo kiro copilot opencode registry)
    local curcontext=$curcontext state
    _arguments -C \
        '(--system)--user[the servers of your user manager]' \
        '(--user)--system[the servers of the system manager]' \
        '(-H --host)'{-H,--host=}'[of another machine, over ssh]:host:_hosts' \
        '--via=[given by -H: how this machine is called]:host:_hosts' \
        '--json[print JSON]' \
        '--no-pager[do not page long output]' \
        '--root=[read definitions below a directory]:directory:_files -/' \
        '--timeout=[give up after a time]:time:' \
        '(-q --quiet)'{-q,--quiet}'[do not say that a server is still starting]' \
        '(-f --follow)'{-f,--follow}'[go on with new lines]' \
        '(-n --lines)'{-n,--lines=}'[show the last lines]:number:' \
        "--from=[whose configuration it is]:client:($clients)" \
        "--for=[whose configuration it is for]:client:($clients)" \
        '--name=[import this server alone]:name:' \
        '--dry-run[show what would be done]' \
        '(-y --yes)'{-y,--yes}'[do not ask]' \
        '--force[replace what is there]' \
        '--inline-secrets[write secrets into the definitions]' \
        '--rewrite[have the client use the imported servers]' \
        '*--env=[set a variable, or pass ours on]:variable:_parameters -g "*export*"' \
        '--env-file=[set what its lines NAME=VALUE say]:file:_files' \
        '*--write=[let it write there too]:path:_files' \
        '--network=[whether it has a network]:mode:(blocked unrestricted)' \
        '--strict[refuse to start if any wanted protection is missing]' \
        '--path=[ask about a path]:path:_files' \
        '--access=[what is done with the path]:access:(read write execute)' \
        '--connect=[ask about a TCP connection]:host and port:' \
        '--socket=[ask about a UNIX socket]:path:_files' \
        '(-h --help)'{-h,--help}'[show a short help]' \
        '--version[show the version]' \
        '1: :->verb' \
        '*: :->operand'
    case $state in
        verb) compadd -a verbs ;;
        operand)
            # What was typed but for options and the values that stand behind them.
            local -a operands
            local -i i
            for ((i = 2; i < CURRENT; i++)); do
                case $words[i] in
                    -H|--host|-n|--lines) ((i++)) ;;
                    -*) ;;
                    *) operands+=("$words[i]") ;;
                esac
            done
            case $operands[1] in
                list|doctor) ;;
                check)
                    _mcpctl_servers
                    _files -g '*.json'
                    ;;
                import) (( $#operands == 1 )) && _files ;;
                run) _command_names -e ;;
                add) (( $#operands > 1 )) && _command_names -e ;;
                status|export|start|stop|restart) _mcpctl_servers ;;
                call)
                    (( $#operands == 1 )) && _mcpctl_servers
                    (( $#operands == 3 )) && compset -P @ && _files
                    ;;
                *) (( $#operands == 1 )) && _mcpctl_servers ;;
            esac
            ;;
    esac
}

_mcpctl "$@"
