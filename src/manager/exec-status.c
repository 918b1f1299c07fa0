/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manager/exec-status.h"
#include "basic/macro.h"

static const char *const table[EXEC_STATUS_MAX - EXEC_STATUS_MIN + 1] = {
        [200 - EXEC_STATUS_MIN] = "CHDIR",
        [201 - EXEC_STATUS_MIN] = "NICE",
        [202 - EXEC_STATUS_MIN] = "FDS",
        [203 - EXEC_STATUS_MIN] = "EXEC",
        [204 - EXEC_STATUS_MIN] = "MEMORY",
        [205 - EXEC_STATUS_MIN] = "LIMITS",
        [206 - EXEC_STATUS_MIN] = "OOM_ADJUST",
        [207 - EXEC_STATUS_MIN] = "SIGNAL_MASK",
        [208 - EXEC_STATUS_MIN] = "STDIN",
        [209 - EXEC_STATUS_MIN] = "STDOUT",
        [210 - EXEC_STATUS_MIN] = "CHROOT",
        [211 - EXEC_STATUS_MIN] = "IOPRIO",
        [212 - EXEC_STATUS_MIN] = "TIMERSLACK",
        [213 - EXEC_STATUS_MIN] = "SECUREBITS",
        [214 - EXEC_STATUS_MIN] = "SETSCHEDULER",
        [215 - EXEC_STATUS_MIN] = "CPUAFFINITY",
        [216 - EXEC_STATUS_MIN] = "GROUP",
        [217 - EXEC_STATUS_MIN] = "USER",
        [218 - EXEC_STATUS_MIN] = "CAPABILITIES",
        [219 - EXEC_STATUS_MIN] = "CGROUP",
        [220 - EXEC_STATUS_MIN] = "SETSID",
        [221 - EXEC_STATUS_MIN] = "CONFIRM",
        [222 - EXEC_STATUS_MIN] = "STDERR",
        [224 - EXEC_STATUS_MIN] = "PAM",
        [225 - EXEC_STATUS_MIN] = "NETWORK",
        [226 - EXEC_STATUS_MIN] = "NAMESPACE",
        [227 - EXEC_STATUS_MIN] = "NO_NEW_PRIVILEGES",
        [228 - EXEC_STATUS_MIN] = "SECCOMP",
        [229 - EXEC_STATUS_MIN] = "SELINUX_CONTEXT",
        [230 - EXEC_STATUS_MIN] = "PERSONALITY",
        [231 - EXEC_STATUS_MIN] = "APPARMOR",
        [232 - EXEC_STATUS_MIN] = "ADDRESS_FAMILIES",
        [233 - EXEC_STATUS_MIN] = "RUNTIME_DIRECTORY",
        [235 - EXEC_STATUS_MIN] = "CHOWN",
        [236 - EXEC_STATUS_MIN] = "SMACK_PROCESS_LABEL",
        [237 - EXEC_STATUS_MIN] = "KEYRING",
        [238 - EXEC_STATUS_MIN] = "STATE_DIRECTORY",
        [239 - EXEC_STATUS_MIN] = "CACHE_DIRECTORY",
        [240 - EXEC_STATUS_MIN] = "LOGS_DIRECTORY",
        [241 - EXEC_STATUS_MIN] = "CONFIGURATION_DIRECTORY",
        [242 - EXEC_STATUS_MIN] = "NUMA_POLICY",
        [243 - EXEC_STATUS_MIN] = "CREDENTIALS",
        [244 - EXEC_STATUS_MIN] = "BPF",
};

const char *exec_status_to_string(int status) {
        return status >= EXEC_STATUS_MIN && status <= EXEC_STATUS_MAX ? table[status - EXEC_STATUS_MIN]
                                                                      : NULL;
}
