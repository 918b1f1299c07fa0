# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for mcpctl(1)

set -l verbs list status show check why doctor probe tools call connect add remove enable disable edit start stop restart run import export logs

function __mcpctl_servers
    set -l scope (string match -r -- '^--(?:user|system)$' (commandline -opc))
    # The first column of a list for a pipe is as wide as its head.
    set -l lines (mcpctl $scope --no-pager list 2>/dev/null)
    test (count $lines) -gt 1
    or return
    set -l width (string length -- (string replace -r 'STATE.*' '' -- $lines[1]))
    string sub -l $width -- $lines[2..] | string trim -r
end

# What was typed but for options and the values that stand behind them.
function __mcpctl_operands
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
        else if contains -- $word -H --host -n --lines
            set skip 1
        else if not string match -q -- '-*' $word
            echo -- $word
        end
    end
end

function __mcpctl_no_verb
    test (count (__mcpctl_operands)) = 0
end

# __mcpctl_at N VERB...: is operand N of one of these verbs next?  N 0: any of them.
function __mcpctl_at
    set -l operands (__mcpctl_operands)
    contains -- "$operands[1]" $argv[2..]
    and test $argv[1] = 0 -o (count $operands) = $argv[1]
end

complete -c mcpctl -f
complete -c mcpctl -n __mcpctl_no_verb -a "$verbs"
complete -c mcpctl -n "__mcpctl_at 0 status check start stop restart export" -a '(__mcpctl_servers)'
complete -c mcpctl -n "__mcpctl_at 1 show why probe tools call connect remove enable disable edit logs" -a '(__mcpctl_servers)'
complete -c mcpctl -n "__mcpctl_at 0 check" -F
complete -c mcpctl -n "__mcpctl_at 1 import" -F
complete -c mcpctl -n "__mcpctl_at 3 call" -a '@(__fish_complete_path (string sub -s 2 -- (commandline -ct)))'
complete -c mcpctl -n "__mcpctl_at 0 run; or begin; __mcpctl_at 0 add; and not __mcpctl_at 1 add; end" -a '(__fish_complete_command)'
complete -c mcpctl -l user -d 'The servers of your user manager'
complete -c mcpctl -l system -d 'The servers of the system manager'
complete -c mcpctl -s H -l host -x -a '(__fish_print_hostnames)' -d 'Of another machine, over ssh'
complete -c mcpctl -l via -x -d 'Given by -H: how to reach this machine'
complete -c mcpctl -l json -d 'Print JSON'
complete -c mcpctl -l no-pager -d 'Do not page long output'
complete -c mcpctl -l root -r -F -d 'Read definitions below a directory'
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
complete -c mcpctl -l env-file -r -F -d 'Set what its lines NAME=VALUE say'
complete -c mcpctl -l write -r -F -d 'Let it write there too'
complete -c mcpctl -l network -x -a 'blocked unrestricted' -d 'Whether it has a network'
complete -c mcpctl -l strict -d 'Refuse to start if any wanted protection is missing'
complete -c mcpctl -l path -r -F -d 'Ask about a path'
complete -c mcpctl -l access -x -a 'read write execute' -d 'What is done with the path'
complete -c mcpctl -l connect -x -d 'Ask about a TCP connection'
complete -c mcpctl -l socket -r -F -d 'Ask about a UNIX socket'
complete -c mcpctl -s h -l help -d 'Show a short help'
complete -c mcpctl -l version -d 'Show the version'
