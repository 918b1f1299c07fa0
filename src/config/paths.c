/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/stat.h>

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/paths.h"

static const char *const system_dirs[] = {
        "/etc/mcp/servers.d",
        "/run/mcp/servers.d",
        "/usr/local/lib/mcp/servers.d",
        "/usr/lib/mcp/servers.d",
};

/* Behind the user's own directory. */
static const char *const user_dirs[] = {
        "/etc/mcp/user-servers.d",
        "/run/mcp/user-servers.d",
        "/usr/lib/mcp/user-servers.d",
};

static int add_dirs(char ***l, const char *root, const char *const *dirs, size_t n) {
        int r;

        for (size_t i = 0; i < n; i++) {
                r = strv_extendf(l, "%s%s", root, dirs[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* $XDG_CONFIG_HOME, which has to be absolute to count (XDG base directory specification), else ~/.config. */
static int user_config_home(char *const *env, char **ret) {
        const char *xdg = env_get(env, "XDG_CONFIG_HOME"), *home = env_get(env, "HOME");
        char *s;

        if (xdg && path_is_absolute(xdg))
                s = strdup(xdg);
        else if (home && path_is_absolute(home))
                s = path_join(home, ".config");
        else
                return -ENXIO;
        if (!s)
                return -ENOMEM;
        *ret = s;
        return 0;
}

int config_paths_init(RuntimeScope scope, const char *root, char *const *env, ConfigPaths *ret) {
        _cleanup_config_paths_ ConfigPaths p = { .scope = scope };
        _cleanup_free_ char *home = NULL;
        int r;

        root = strempty(root);
        if (scope == RUNTIME_SCOPE_USER) {
                r = user_config_home(env, &home);
                if (r < 0)
                        return r;
                p.owner = getuid();
                r = strv_extendf(&p.server_dirs, "%s%s/mcp/servers.d", root, home);
                if (r < 0)
                        return r;
                r = add_dirs(&p.server_dirs, root, user_dirs, ELEMENTSOF(user_dirs));
                if (r < 0)
                        return r;
                r = strv_extendf(&p.client_files, "%s%s/mcp/mcp.json", root, home);
        } else {
                r = add_dirs(&p.server_dirs, root, system_dirs, ELEMENTSOF(system_dirs));
                if (r < 0)
                        return r;
                r = strv_extendf(&p.client_files, "%s/etc/mcp/mcp.json", root);
        }
        if (r < 0)
                return r;
        *ret = p;
        p = (ConfigPaths){};
        return 0;
}

void config_paths_done(ConfigPaths *paths) {
        paths->server_dirs = strv_free(paths->server_dirs);
        paths->client_files = strv_free(paths->client_files);
}

static int add_user_credential_dirs(char *const *env, char ***dirs) {
        const char *runtime_dir = env_get(env, "XDG_RUNTIME_DIR");
        _cleanup_free_ char *home = NULL;
        int r;

        r = user_config_home(env, &home);
        if (r == -ENOMEM)
                return r;
        if (r >= 0) {
                r = strv_extendf(dirs, "%s/credstore", home);
                if (r < 0)
                        return r;
        }
        if (isempty(runtime_dir) || !path_is_absolute(runtime_dir))
                return 0;
        return strv_extendf(dirs, "%s/credstore", runtime_dir);
}

int credential_dirs(RuntimeScope scope, bool encrypted, char *const *env, char ***ret) {
        static const char *const tops[] = { "/etc", "/run", "/usr/lib" };
        _cleanup_strv_free_ char **dirs = NULL;
        int r = 0;

        if (scope == RUNTIME_SCOPE_SYSTEM)
                for (size_t i = 0; r >= 0 && i < ELEMENTSOF(tops); i++)
                        r = strv_extendf(&dirs, "%s/credstore%s", tops[i], encrypted ? ".encrypted" : "");
        else if (!encrypted)
                r = add_user_credential_dirs(env, &dirs);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(dirs);
        return 0;
}

static bool is_plain(char c, bool first) {
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')
                return true;
        return !first && (c == '.' || c == ':' || c == '-');
}

int server_name_escape(const char *name, char **ret) {
        static const char hex[] = "0123456789abcdef";
        size_t n = 0;
        char *out, *o;

        /* Mostly there is nothing to escape. */
        while (is_plain(name[n], n == 0))
                n++;
        if (n > 0 && n <= SERVER_INSTANCE_MAX && name[n] == 0) {
                out = strdup(name);
                if (!out)
                        return -ENOMEM;
                *ret = out;
                return 0;
        }
        n += strlen(name + n);
        if (n == 0 || !string_is_utf8(name, n))
                return -EINVAL;
        if (n > SERVER_INSTANCE_MAX)
                return -ENAMETOOLONG;
        out = o = malloc(n * 4 + 1);
        if (!out)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char) name[i];

                if (is_plain(name[i], i == 0)) {
                        *o++ = name[i];
                        continue;
                }
                *o++ = '\\';
                *o++ = 'x';
                *o++ = hex[c >> 4];
                *o++ = hex[c & 15];
        }
        *o = 0;
        if ((size_t) (o - out) > SERVER_INSTANCE_MAX) {
                free(out);
                return -ENAMETOOLONG;
        }
        *ret = out;
        return 0;
}

static int unhex(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int server_name_unescape(const char *instance, char **ret) {
        _cleanup_free_ char *name = NULL, *again = NULL;
        char *o;
        int r;

        name = o = malloc(strlen(instance) + 1);
        if (!name)
                return -ENOMEM;
        for (const char *s = instance; *s; s++) {
                int high, low;

                if (*s != '\\') {
                        *o++ = *s;
                        continue;
                }
                high = s[1] == 'x' ? unhex(s[2]) : -1;
                low = high >= 0 ? unhex(s[3]) : -1;
                if (low < 0 || (high == 0 && low == 0))
                        return -EINVAL;
                *o++ = (char) (high << 4 | low);
                s += 3;
        }
        *o = 0;
        /* Only what the escaping makes: two spellings of one name would be two units of one server. */
        r = server_name_escape(name, &again);
        if (r < 0)
                return r;
        if (!streq(again, instance))
                return -EINVAL;
        *ret = TAKE_PTR(name);
        return 0;
}

int runtime_dir_find(RuntimeScope scope, char **ret) {
        const char *dir = scope == RUNTIME_SCOPE_SYSTEM ? "/run" : getenv("XDG_RUNTIME_DIR");
        _cleanup_free_ char *usual = NULL;
        struct stat st;

        /* As in the specification, one that is relative counts as not set. */
        if (isempty(dir) || !path_is_absolute(dir)) {
                dir = usual = strformat("/run/user/%u", getuid());
                if (!usual)
                        return -ENOMEM;
                if (lstat(usual, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != getuid())
                        return -ENXIO;
        }
        return free_and_strdup(ret, dir);
}

int server_socket_path(const char *runtime_dir, const char *instance, SocketKind kind, char **ret) {
        char *s;

        s = strformat("%s/mcp/%s.%s", runtime_dir, instance, kind == SOCKET_RAW ? "sock" : "connect");
        if (!s)
                return -ENOMEM;
        *ret = s;
        return 0;
}
