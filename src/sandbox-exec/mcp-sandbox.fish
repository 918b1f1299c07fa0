# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for mcp-sandbox(1)

complete -c mcp-sandbox -f -a '(__fish_complete_subcommand)'
complete -c mcp-sandbox -s h -l help -d 'Show a short help'
complete -c mcp-sandbox -l version -d 'Show the version'
complete -c mcp-sandbox -l definition -r -F -d 'Run the server of a definition file'
complete -c mcp-sandbox -l manifest -r -F -d 'Grant what a capability manifest says'
complete -c mcp-sandbox -l name -x -d 'Use the state directory of that name'
complete -c mcp-sandbox -l working-dir -x -a '(__fish_complete_directories)' -d 'Run in that directory'
complete -c mcp-sandbox -l write -r -F -d 'Let it write there too'
complete -c mcp-sandbox -l network -x -a 'unrestricted blocked' -d 'May it use the network'
complete -c mcp-sandbox -l unix-sockets -r -F -a 'none any' -d 'UNIX sockets that it may connect to'
complete -c mcp-sandbox -l home -x -a 'shared private' -d 'Whose home it has'
complete -c mcp-sandbox -l env-file -r -F -d 'Set what its lines NAME=VALUE say'
complete -c mcp-sandbox -l env -x -a '(set -nx)' -d 'Set a variable, or pass it on'
complete -c mcp-sandbox -l strict -d 'Refuse to run if a protection is missing'
complete -c mcp-sandbox -l dry-run -d 'Print what would be enforced'
complete -c mcp-sandbox -l json -d 'Print it as JSON'
