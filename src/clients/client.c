/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clients/client.h"
#include "basic/string-util.h"

static const ClientInfo client_table[_CLIENT_MAX] = {
        [CLIENT_CLAUDE_DESKTOP] = {
                .name = "claude-desktop", .title = "Claude Desktop", .key = "mcpServers",
                .home_files = { ".config/Claude/claude_desktop_config.json" },
        },
        [CLIENT_CLAUDE_CODE] = {
                .name = "claude-code", .title = "Claude Code", .key = "mcpServers",
                .placeholders = PLACEHOLDER_NAME | PLACEHOLDER_DEFAULT,
                .project_file = ".mcp.json", .home_files = { ".claude.json" },
        },
        [CLIENT_CURSOR] = {
                .name = "cursor", .title = "Cursor", .key = "mcpServers",
                .placeholders = PLACEHOLDER_ENV | PLACEHOLDER_PREDEFINED,
                .project_file = ".cursor/mcp.json", .home_files = { ".cursor/mcp.json" },
        },
        [CLIENT_VSCODE] = {
                .name = "vscode", .title = "VS Code", .key = "servers",
                .placeholders = PLACEHOLDER_ENV | PLACEHOLDER_PREDEFINED | PLACEHOLDER_INPUT,
                .project_file = ".vscode/mcp.json",
                .home_files = { ".config/Code/User/mcp.json", ".config/Code/User/settings.json" },
        },
        [CLIENT_ZED] = {
                .name = "zed", .title = "Zed", .key = "context_servers",
                .project_file = ".zed/settings.json", .home_files = { ".config/zed/settings.json" },
        },
        [CLIENT_WINDSURF] = {
                .name = "windsurf", .title = "Windsurf", .key = "mcpServers",
                .placeholders = PLACEHOLDER_ENV | PLACEHOLDER_NAME,
                .home_files = { ".codeium/windsurf/mcp_config.json" },
        },
        [CLIENT_GEMINI] = {
                .name = "gemini", .title = "Gemini CLI", .key = "mcpServers",
                .placeholders = PLACEHOLDER_NAME | PLACEHOLDER_DEFAULT | PLACEHOLDER_BARE,
                .project_file = ".gemini/settings.json", .home_files = { ".gemini/settings.json" },
        },
        [CLIENT_CODEX] = {
                .name = "codex", .title = "Codex", .format = FORMAT_TOML, .key = "mcp_servers",
                .project_file = ".codex/config.toml", .home_files = { ".codex/config.toml" },
        },
        [CLIENT_MCPPROXY] = {
                .name = "mcpproxy", .title = "MCPProxy", .key = "mcpServers",
                .placeholders = PLACEHOLDER_ENV | PLACEHOLDER_KEYRING,
                .project_file = "mcp_config.json", .home_files = { ".mcpproxy/mcp_config.json" },
        },
        [CLIENT_CLINE] = {
                .name = "cline", .title = "Cline", .key = "mcpServers", .placeholders = PLACEHOLDER_ENV,
                .home_files = { ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json" },
        },
        [CLIENT_ROO] = {
                .name = "roo", .title = "Roo Code", .key = "mcpServers",
                .placeholders = PLACEHOLDER_ENV | PLACEHOLDER_PREDEFINED, .project_file = ".roo/mcp.json",
                .home_files = { ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json" },
        },
        [CLIENT_KIRO] = {
                .name = "kiro", .title = "Kiro", .key = "mcpServers", .placeholders = PLACEHOLDER_NAME,
                .project_file = ".kiro/settings/mcp.json", .home_files = { ".kiro/settings/mcp.json" },
        },
        [CLIENT_COPILOT] = {
                .name = "copilot", .title = "Copilot CLI", .key = "mcpServers",
                .placeholders = PLACEHOLDER_NAME | PLACEHOLDER_DEFAULT,
                .home_files = { ".copilot/mcp-config.json" },
        },
        [CLIENT_OPENCODE] = {
                .name = "opencode", .title = "OpenCode", .key = "mcp", .placeholders = PLACEHOLDER_BRACES,
                .project_file = "opencode.json",
                .home_files = { ".config/opencode/opencode.json", ".config/opencode/opencode.jsonc" },
        },
        [CLIENT_REGISTRY] = {
                .name = "registry", .title = "the MCP registry", .project_file = "server.json",
        },
};

const ClientInfo *client_info(Client client) {
        return client_table + client;
}

const char *client_to_string(Client client) {
        return client >= 0 && client < _CLIENT_MAX ? client_table[client].name : NULL;
}

Client client_from_string(const char *s) {
        for (Client c = 0; c < _CLIENT_MAX; c++)
                if (streq(s, client_table[c].name))
                        return c;
        return _CLIENT_INVALID;
}
