#compdef mcp-connect
# SPDX-License-Identifier: LGPL-2.1-or-later
# zsh completion for mcp-connect(1)

_mcp_connect_servers() {
    local -a scope servers
    scope=(${(M)words:#--(user|system)})
    servers=(${${(f)"$(mcpctl $scope --no-pager list 2>/dev/null)"}%% *})
    servers=(${servers:#NAME})
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
