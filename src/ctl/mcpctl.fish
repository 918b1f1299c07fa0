# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for mcpctl(1)

set -l verbs list status show check why doctor probe tools call connect add remove enable disable edit start stop restart run import export logs

function __mcpctl_servers
    set -l scope (string match -r -- '^--(?:user|system)$' (commandline -opc))
    mcpctl $scope --no-pager list 2>/dev/null | string replace -r ' .*' '' | string match -v NAME
end

complete -c mcpctl -f
complete -c mcpctl -n "not __fish_seen_subcommand_from $verbs" -a "$verbs"
complete -c mcpctl -n "__fish_seen_subcommand_from status show check why probe tools call connect remove enable disable edit start stop restart export logs" -a '(__mcpctl_servers)'
complete -c mcpctl -n "__fish_seen_subcommand_from check import" -F
complete -c mcpctl -n "__fish_seen_subcommand_from add run" -a '(__fish_complete_command)'
complete -c mcpctl -l user -d 'The servers of your user manager'
complete -c mcpctl -l system -d 'The servers of the system manager'
complete -c mcpctl -s H -l host -x -a '(__fish_print_hostnames)' -d 'Of another machine, over ssh'
complete -c mcpctl -l via -x -d 'Given by -H: how this machine is called'
complete -c mcpctl -l json -d 'Print JSON'
complete -c mcpctl -l no-pager -d 'Do not page long output'
complete -c mcpctl -l root -r -d 'Read definitions below a directory'
complete -c mcpctl -l timeout -x -d 'Give up after a time'
complete -c mcpctl -s q -l quiet -d 'Do not say that a server is still starting'
complete -c mcpctl -s f -l follow -d 'Go on with new lines'
complete -c mcpctl -s n -l lines -x -d 'Show the last lines'
set -l clients claude-desktop claude-code cursor vscode zed windsurf gemini codex mcpproxy cline roo kiro copilot opencode registry
complete -c mcpctl -l from -x -a "$clients" -d 'Whose configuration it is'
complete -c mcpctl -l for -x -a "$clients" -d 'Whose configuration it is for'
complete -c mcpctl -l name -x -d 'Import this server alone'
complete -c mcpctl -l dry-run -d 'Show what would be done'
complete -c mcpctl -s y -l yes -d 'Do not ask'
complete -c mcpctl -l force -d 'Replace what is there'
complete -c mcpctl -l inline-secrets -d 'Write secrets into the definitions'
complete -c mcpctl -l rewrite -d 'Have the client use the imported servers'
complete -c mcpctl -l env -x -a '(set -nx)' -d 'Set a variable, or pass ours on'
complete -c mcpctl -l env-file -r -d 'Set what its lines NAME=VALUE say'
complete -c mcpctl -l write -r -d 'Let it write there too'
complete -c mcpctl -l network -x -a 'blocked unrestricted' -d 'Whether it has a network'
complete -c mcpctl -l strict -d 'Refuse to start if any wanted protection is missing'
complete -c mcpctl -l path -r -d 'Ask about a path'
complete -c mcpctl -l access -x -a 'read write execute' -d 'What is done with the path'
complete -c mcpctl -l connect -x -d 'Ask about a TCP connection'
complete -c mcpctl -l socket -r -d 'Ask about a UNIX socket'
complete -c mcpctl -s h -l help -d 'Show a short help'
complete -c mcpctl -l version -d 'Show the version'
