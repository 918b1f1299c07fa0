/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reader of what a server writes. The first byte of the input says in pieces of what size the rest arrives, and
 * its highest bit whether batches are allowed: what comes out must not depend on the pieces. */

#include "basic/string-util.h"
#include "fuzz.h"
#include "mcp-client/message.h"

typedef struct Seen {
        size_t n_messages, n_failures;
        unsigned types; /* a checksum of the order */
} Seen;

static void check_message(const McpMessage *m) {
        FUZZ_ASSERT(m->root);
        FUZZ_ASSERT(m->id || m->type == MCP_MESSAGE_NOTIFICATION || m->type == MCP_MESSAGE_ERROR);
        FUZZ_ASSERT((m->type == MCP_MESSAGE_REQUEST || m->type == MCP_MESSAGE_NOTIFICATION) ==
                    (m->method != NULL));
        FUZZ_ASSERT((m->type == MCP_MESSAGE_RESULT) == (m->result != NULL));
        FUZZ_ASSERT((m->type == MCP_MESSAGE_ERROR) == (m->error_message != NULL));
}

static void drain(McpReader *reader, Seen *seen) {
        for (;;) {
                _cleanup_mcp_message_ McpMessage m = {};
                _cleanup_free_ char *line = NULL;
                McpFailure failure = MCP_FAILURE_NONE;
                int r;

                r = mcp_reader_next(reader, &m, &failure, &line);
                if (r == 1) {
                        check_message(&m);
                        seen->n_messages++;
                        seen->types = seen->types * 31 + (unsigned) m.type;
                } else if (r == -EBADMSG) {
                        FUZZ_ASSERT(mcp_failure_to_string(failure));
                        FUZZ_ASSERT(!line || string_is_utf8(line, strlen(line)));
                        seen->n_failures++;
                        seen->types = seen->types * 31 + (unsigned) failure + 8;
                } else {
                        FUZZ_ASSERT(r == 0 || r == -ENOMEM);
                        return;
                }
        }
}

static Seen read_in_pieces(const uint8_t *data, size_t size, size_t piece, bool allow_batch) {
        McpReader reader = MCP_READER_INIT;
        McpFailure failure = MCP_FAILURE_NONE;
        char *line = NULL;
        Seen seen = {};

        reader.allow_batch = allow_batch;
        for (size_t i = 0; i < size; i += piece) {
                FUZZ_ASSERT(line_buffer_append(&reader.buffer, data + i, MIN(piece, size - i)) == 0);
                drain(&reader, &seen);
        }
        FUZZ_ASSERT(mcp_reader_rest(&reader, &failure, &line) == 0);
        free(line);
        mcp_reader_done(&reader);
        return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        Seen pieces, whole;
        bool allow_batch;

        if (size < 2)
                return 0;
        allow_batch = data[0] & 0x80;
        pieces = read_in_pieces(data + 1, size - 1, (data[0] & 0x7f) + 1, allow_batch);
        whole = read_in_pieces(data + 1, size - 1, size, allow_batch);
        FUZZ_ASSERT(pieces.n_messages == whole.n_messages);
        FUZZ_ASSERT(pieces.n_failures == whole.n_failures);
        FUZZ_ASSERT(pieces.types == whole.types);
        return 0;
}
