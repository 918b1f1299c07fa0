/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "basic/string-util.h"
#include "manager/scope-properties.h"

void scope_spec_done(ScopeSpec *spec) {
        free((char *) spec->name);
        free((char *) spec->description);
        free((char *) spec->slice);
        free((char *) spec->binds_to);
        spec->pidfd = safe_close(spec->pidfd);
}

static int copy_string(const char *s, const char **ret) {
        *ret = s ? strdup(s) : NULL;
        return s && !*ret ? -ENOMEM : 0;
}

int scope_spec_copy(const ScopeSpec *spec, ScopeSpec *ret) {
        ScopeSpec copy = *spec;
        int r;

        copy.name = copy.description = copy.slice = copy.binds_to = NULL;
        copy.pidfd = -EBADF;
        r = copy_string(spec->name, &copy.name);
        if (r >= 0)
                r = copy_string(spec->description, &copy.description);
        if (r >= 0)
                r = copy_string(spec->slice, &copy.slice);
        if (r >= 0)
                r = copy_string(spec->binds_to, &copy.binds_to);
        if (r >= 0 && spec->pidfd >= 0)
                r = copy.pidfd = RET_NERRNO(fcntl(spec->pidfd, F_DUPFD_CLOEXEC, 3));
        if (r < 0) {
                scope_spec_done(&copy);
                return r;
        }
        *ret = copy;
        return 0;
}

static int append_size(sd_bus_message *m, const char *property, uint64_t value) {
        return value == UINT64_MAX ? 0 : sd_bus_message_append(m, "(sv)", property, "t", value);
}

static int append_string(sd_bus_message *m, const char *property, const char *value) {
        return value ? sd_bus_message_append(m, "(sv)", property, "s", value) : 0;
}

static int append_process(sd_bus_message *m, const ScopeSpec *spec, bool lacks_pidfds) {
        if (spec->pidfd >= 0 && !lacks_pidfds)
                return sd_bus_message_append(m, "(sv)", "PIDFDs", "ah", 1, spec->pidfd);
        return sd_bus_message_append(m, "(sv)", "PIDs", "au", 1, (uint32_t) spec->pid);
}

/* IPAddressDeny=any, IPAddressAllow=localhost, as systemd writes them: networks of both families. */
static int append_networks(sd_bus_message *m, const char *property, bool loopback) {
        const struct in_addr v4 = { .s_addr = loopback ? htonl(INADDR_LOOPBACK & 0xff000000U) : 0 };
        const struct in6_addr v6 = loopback ? (struct in6_addr) IN6ADDR_LOOPBACK_INIT
                                            : (struct in6_addr) IN6ADDR_ANY_INIT;
        int r;

        r = sd_bus_message_open_container(m, 'r', "sv");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", property);
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'v', "a(iayu)");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "(iayu)");
        for (int i = 0; i < 2 && r >= 0; i++) {
                r = sd_bus_message_open_container(m, 'r', "iayu");
                if (r >= 0)
                        r = sd_bus_message_append(m, "i", i ? AF_INET6 : AF_INET);
                if (r >= 0)
                        r = sd_bus_message_append_array(
                                        m, 'y', i ? (const void *) &v6 : &v4, i ? sizeof(v6) : sizeof(v4));
                if (r >= 0)
                        r = sd_bus_message_append(m, "u", !loopback ? 0U : i ? 128U : 8U);
                if (r >= 0)
                        r = sd_bus_message_close_container(m);
        }
        for (int i = 0; i < 3 && r >= 0; i++)
                r = sd_bus_message_close_container(m);
        return r;
}

static int append_limits(sd_bus_message *m, const ScopeSpec *spec) {
        const struct {
                const char *property;
                uint64_t value;
        } table[] = {
                { "MemoryMax", spec->memory_max },
                { "MemorySwapMax", spec->swap_max },
                { "TasksMax", spec->tasks_max },
                { "CPUQuotaPerSecUSec", spec->cpu_quota_usec_per_sec },
                { "RuntimeMaxUSec", spec->runtime_max_usec },
                { "TimeoutStopUSec", spec->timeout_stop_usec },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                int r = append_size(m, table[i].property, table[i].value);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int append_properties(sd_bus_message *m, const ScopeSpec *spec, bool lacks_oom_policy) {
        int r;

        r = append_string(m, "Description", spec->description);
        if (r >= 0)
                r = append_string(m, "Slice", spec->slice);
        if (r >= 0 && spec->binds_to)
                r = sd_bus_message_append(m, "(sv)", "BindsTo", "as", 1, spec->binds_to);
        if (r >= 0 && spec->binds_to)
                r = sd_bus_message_append(m, "(sv)", "Before", "as", 1, spec->binds_to);
        if (r >= 0)
                /* Also a scope whose processes had to be killed gives its name and memory back. */
                r = append_string(m, "CollectMode", "inactive-or-failed");
        if (r >= 0)
                r = append_limits(m, spec);
        if (r >= 0 && spec->oom_kill && !lacks_oom_policy)
                r = append_string(m, "OOMPolicy", "kill");
        if (r >= 0 && spec->loopback_only) {
                r = append_networks(m, "IPAddressDeny", false);
                if (r >= 0)
                        r = append_networks(m, "IPAddressAllow", true);
        }
        return r;
}

int scope_properties_begin(sd_bus_message *m, const ScopeSpec *spec, bool lacks_oom_policy) {
        int r;

        r = sd_bus_message_append(m, "ss", spec->name, "fail");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "(sv)");
        if (r >= 0)
                r = append_properties(m, spec, lacks_oom_policy);
        return r;
}

int scope_properties_end(sd_bus_message *m, const ScopeSpec *spec, bool lacks_pidfds) {
        int r;

        r = append_process(m, spec, lacks_pidfds);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r >= 0)
                r = sd_bus_message_append(m, "a(sa(sv))", 0);
        return r;
}
