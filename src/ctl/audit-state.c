/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <linux/audit.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "basic/string-util.h"
#include "ctl/audit-state.h"
#include "ctl/units.h"

#define LANDLOCK_ABI_LOGS 7
#define AUDIT_SOCKET      "systemd-journald-audit.socket"

/* Asks the kernel whether audit is on: 1, 0, or negative errno (-EPERM and -ECONNREFUSED for who may not ask,
 * -EPROTONOSUPPORT where nobody listens: built without audit, or booted with audit=0). */
static int audit_enabled(void) {
        struct {
                struct nlmsghdr header;
                struct audit_status status;
        } message = {
                .header = {
                        .nlmsg_len = NLMSG_LENGTH(0),
                        .nlmsg_type = AUDIT_GET,
                        .nlmsg_flags = NLM_F_REQUEST,
                },
        };
        const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
        const struct timeval timeout = { .tv_sec = 2 };
        _cleanup_close_ int fd = -EBADF;
        ssize_t n;

        fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0 ||
            sendto(fd,
                   &message,
                   message.header.nlmsg_len,
                   0,
                   (const struct sockaddr *) &kernel,
                   sizeof(kernel)) < 0)
                return -errno;
        n = recv(fd, &message, sizeof(message), MSG_TRUNC);
        if (n < 0)
                return -errno;
        if ((size_t) n < NLMSG_LENGTH(2 * sizeof(uint32_t)) || message.header.nlmsg_type != AUDIT_GET)
                return -EPERM;
        return message.status.enabled != 0;
}

/* The audit socket belongs to the system manager, whoever asks. */
static bool journal_reads_audit(void) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_unit_details_ UnitDetails unit = {};

        return units_connect(RUNTIME_SCOPE_SYSTEM, &bus) >= 0 &&
               unit_details(bus, AUDIT_SOCKET, &unit) >= 0 && streq_ptr(unit.active, "active");
}

int audit_needs(const LandlockFacts *landlock, char **ret) {
        _cleanup_strv_free_ char **needs = NULL;
        int enabled = audit_enabled(), r = 0;

        if (landlock->abi < LANDLOCK_ABI_LOGS)
                r =
                                strv_extendf(&needs,
                                             "a kernel whose Landlock logs (ABI %d, Linux 6.15; found %d)",
                                             LANDLOCK_ABI_LOGS,
                                             landlock->abi);
        if (r >= 0 && enabled == 0)
                r = strv_extend(&needs,
                                "audit switched on (Audit=yes below [Journal] in "
                                "/etc/systemd/journald.conf.d/mcp-audit.conf, then systemctl restart "
                                "systemd-journald)");
        else if (r >= 0 && enabled == -EPROTONOSUPPORT)
                r = strv_extend(&needs,
                                "a kernel with audit (this one is built without, or booted with audit=0)");
        else if (r >= 0 && enabled < 0)
                r = strv_extendf(
                                &needs,
                                "leave to ask the kernel whether audit is on (%s here; root may)",
                                STRERROR(enabled));
        if (r >= 0 && enabled != -EPROTONOSUPPORT && !journal_reads_audit())
                r = strv_extend(&needs, "a journal that reads it (systemctl enable --now " AUDIT_SOCKET ")");
        if (r < 0)
                return r;
        if (!needs)
                *ret = NULL;
        else {
                _cleanup_free_ char *list = strv_join(needs, "; ");

                *ret = list ? strformat("It needs %s.", list) : NULL;
                if (!*ret)
                        return -ENOMEM;
        }
        return 0;
}
