/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/string-util.h"
#include "report/audit-line.h"
#include "test.h"

static AuditLine line;

static int parse(const char *text) {
        audit_line_done(&line);
        return audit_line_parse(text, &line);
}

TEST(a_denied_path) {
        ASSERT_OK(parse("AUDIT1423 domain=195ba459b blockers=fs.make_reg path=\"/var/tmp\" dev=\"tmpfs\" "
                        "ino=12"));
        ASSERT_EQ(line.domain, 0x195ba459bU);
        ASSERT_STREQ(line.blockers[0], "fs.make_reg");
        ASSERT_STREQ(line.path, "/var/tmp");
        ASSERT_STREQ(audit_line_access(&line), "write");
        ASSERT_OK(parse("domain=1 blockers=fs.read_file path=\"/etc/shadow\""));
        ASSERT_STREQ(audit_line_access(&line), "read");
        ASSERT_OK(parse("domain=1 blockers=fs.execute path=\"/x\""));
        ASSERT_STREQ(audit_line_access(&line), "execute");
}

TEST(a_path_that_the_kernel_does_not_quote) {
        ASSERT_OK(parse("domain=1a blockers=fs.write_file,fs.truncate path=2F7372762F612062 dev=\"vda1\""));
        ASSERT_STREQ(line.path, "/srv/a b");
        ASSERT_STREQ(line.blockers[1], "fs.truncate");
}

TEST(what_is_about_no_path) {
        ASSERT_OK(parse("domain=1 blockers=net.connect_tcp daddr=127.0.0.1 dest=443"));
        ASSERT_STREQ(line.address, "127.0.0.1");
        ASSERT_EQ(line.port, 443);
        ASSERT_NULL(audit_line_access(&line));
        ASSERT_OK(parse("domain=1 blockers=scope.signal opid=1 ocomm=\"systemd\""));
        ASSERT_STREQ(line.process, "systemd");
        ASSERT_NULL(audit_line_access(&line));
}

TEST(a_domain) {
        ASSERT_OK(parse("AUDIT1424 domain=195ba459b status=allocated mode=enforcing pid=4242 uid=0 "
                        "exe=\"/n\" comm=\"n\""));
        ASSERT_TRUE(line.allocated);
        ASSERT_EQ(line.pid, 4242);
        ASSERT_NULL(line.blockers);
        ASSERT_OK(parse("AUDIT1424 domain=195ba459b status=deallocated denials=3"));
        ASSERT_FALSE(line.allocated);
        ASSERT_EQ(line.pid, 0);
}

TEST(what_is_no_such_record) {
        static const char *const texts[] = {
                "",
                "nothing of the kind",
                "blockers=fs.make_reg path=\"/x\"",
                "domain=1",
                "domain=xyz blockers=fs.make_reg",
                "domain= blockers=fs.make_reg",
                "domain=1ffffffffffffffff blockers=fs.make_reg",
                "domain=1 blockers=fs.make_reg path=2F7",
                "domain=1 blockers=fs.make_reg path=2F00",
                "domain=1 blockers=fs.make_reg path=/x",
                "domain=1 blockers=fs.make_reg path=",
                "domain=1 blockers=net.bind_tcp src=65536",
                "domain=1 status=allocated pid=-1",
                "domain=1 status=allocated pid=99999999999",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                ASSERT_ERROR(parse(texts[i]), EBADMSG);
}
