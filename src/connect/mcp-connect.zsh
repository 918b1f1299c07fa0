#compdef mcp-connect
# SPDX-License-Identifier: LGPL-2.1-or-later
# zsh completion for mcp-connect(1)

_mcp_connect_servers() {
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

_arguments \
    '(--system)--user[the server of your user manager]' \
    '(--user)--system[the server of the system manager]' \
    '(-H --host)'{-H,--host}'[of another machine, over ssh]:host:_hosts' \
    '*--env[pass a variable through]:variable:_parameters -g "*export*"' \
    '--timeout[how long the start may take]:seconds:' \
    '(-q --quiet)'{-q,--quiet}'[do not say that the server is still starting]' \
    '(-h --help)'{-h,--help}'[show a short help]' \
    '--version[show the version]' \
    '1:server:_mcp_connect_servers'
