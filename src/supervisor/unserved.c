/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "supervisor/unserved.h"
#include "basic/string-util.h"
#include "manager/exec-status.h"

int unserved_status(char *const *env) {
        const char *result = env_get(env, "MONITOR_SERVICE_RESULT"),
                   *text = env_get(env, "MONITOR_EXIT_STATUS");
        int status;

        if (!streq_ptr(result, "exit-code") || !text || strlen(text) != 3 || strspn(text, "0123456789") != 3)
                return 0;
        status = atoi(text);
        return exec_status_to_string(status) ? status : 0;
}

static char *credential_names(const Definition *d) {
        _cleanup_strv_free_ char **names = NULL;

        for (size_t i = 0; d && i < d->n_credentials; i++)
                if (strv_extend(&names, strempty(d->credentials[i].value.value)) < 0)
                        return NULL;
        return strv_join(names, ", ");
}

void unserved_explain(int status, const Definition *definition, Refusal *ret) {
        static const struct {
                int status;
                const char *text;
        } remedies[] = {
                { EXEC_STATUS_USER, " The user of the definition or of a drop-in does not exist." },
                { EXEC_STATUS_CREDENTIALS, " A credential cannot be read or decrypted: " },
        };
        _cleanup_free_ char *names = NULL;
        const char *remedy = "";

        for (size_t i = 0; i < ELEMENTSOF(remedies); i++)
                if (remedies[i].status == status)
                        remedy = remedies[i].text;
        if (status == EXEC_STATUS_CREDENTIALS)
                names = credential_names(definition);
        refusal_set(ret,
                    "MCP-R-UNIT",
                    EXIT_UNAVAILABLE,
                    "systemd could not start the server's service (step %s, status %d).%s%s%s See the "
                    "journal of "
                    "the unit; the next client is a new attempt.",
                    exec_status_to_string(status),
                    status,
                    remedy,
                    status != EXEC_STATUS_CREDENTIALS ? ""
                    : isempty(names)                  ? "one of the unit's"
                                                      : names,
                    status == EXEC_STATUS_CREDENTIALS ? "." : "");
}
