#compdef mcp-sandbox
# SPDX-License-Identifier: LGPL-2.1-or-later
# zsh completion for mcp-sandbox(1)

_arguments -S \
    '(-h --help)'{-h,--help}'[show a short help]' \
    '--version[show the version]' \
    '--definition=[run the server of a definition file]:file:_files -g "*.json"' \
    '--manifest=[grant what a capability manifest says]:file:_files -g "*.json"' \
    '--name=[use the state directory of that name]:name:' \
    '--working-dir=[run in that directory]:directory:_files -/' \
    '*--write=[let it write there too]:path:_files' \
    '--network=[may it use the network]:mode:(unrestricted blocked)' \
    '*--unix-sockets=[UNIX sockets that it may connect to]:which:_alternative "words:word:(none any)" "files:socket:_files"' \
    '--home=[whose home it has]:which:(shared private)' \
    '--env-file=[set what its lines NAME=VALUE say]:file:_files' \
    '*--env=[set a variable, or pass it on]:variable:_parameters -g "*export*"' \
    '--strict[refuse to run if a protection is missing]' \
    '--dry-run[print what would be enforced]' \
    '--json[with --dry-run: print it as JSON]' \
    '(-):command:_command_names -e' \
    '*::arguments:_normal'
