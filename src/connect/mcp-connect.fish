# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for mcp-connect(1)

function __mcp_connect_servers
    set -l scope (string match -r -- '^--(?:user|system)$' (commandline -opc))
    # The first column of a list for a pipe is as wide as its head.
    set -l lines (mcpctl $scope --no-pager list 2>/dev/null)
    test (count $lines) -gt 1
    or return
    set -l width (string length -- (string replace -r 'STATE.*' '' -- $lines[1]))
    string sub -l $width -- $lines[2..] | string trim -r
end

complete -c mcp-connect -f -a '(__mcp_connect_servers)'
complete -c mcp-connect -l user -d 'The server of your user manager'
complete -c mcp-connect -l system -d 'The server of the system manager'
complete -c mcp-connect -s H -l host -x -a '(__fish_print_hostnames)' -d 'Of another machine, over ssh'
complete -c mcp-connect -l env -x -a '(set -nx)' -d 'Pass a variable through'
complete -c mcp-connect -l timeout -x -d 'How long the start may take'
complete -c mcp-connect -s q -l quiet -d 'Do not say that the server is still starting'
complete -c mcp-connect -s h -l help -d 'Show a short help'
complete -c mcp-connect -l version -d 'Show the version'
