/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What systemd could not do for a service before it executed its program: the exit statuses 200 to 244 of systemd.exec(5),
 * "Process Exit Codes", by the names that systemd writes into its own messages. */

enum { EXEC_STATUS_MIN = 200, EXEC_STATUS_USER = 217, EXEC_STATUS_CREDENTIALS = 243, EXEC_STATUS_MAX = 244 };

/* "CREDENTIALS"; NULL: none of systemd's. */
const char *exec_status_to_string(int status);
