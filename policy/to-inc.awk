# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Turns a policy file into an X-macro include: awk -v kind=baseline|runtimes|keys|syscalls -f to-inc.awk FILE.
# A line that it does not understand ends the build.

function fail(why) {
        printf "%s:%d: %s: %s\n", FILENAME, FNR, why, line > "/dev/stderr"
        failed = 1
        exit 1
}

function quote(s) {
        gsub(/["\\]/, "\\\\&", s)
        return "\"" s "\""
}

function access(letters,    out, i, c) {
        for (i = 1; i <= length(letters); i++) {
                c = substr(letters, i, 1)
                if (!(c in bit))
                        fail("unknown access")
                out = out (out == "" ? "" : " | ") bit[c]
        }
        return out
}

function how(word) {
        if (!(word in flag))
                fail("not optional, make or nodev")
        return flag[word]
}

function words(n) {
        if (NF != n)
                fail("wrong number of words")
        if (reason == "")
                fail("no reason given")
}

BEGIN {
        bit["r"] = "ACCESS_READ"; bit["x"] = "ACCESS_EXECUTE"; bit["w"] = "ACCESS_WRITE"; bit["i"] = "ACCESS_IOCTL"
        flag["optional"] = "RULE_OPTIONAL"; flag["make"] = "RULE_OPTIONAL | RULE_CREATE"
        flag["nodev"] = "RULE_OPTIONAL | RULE_BUT_DEVICES"
        when["sandbox"] = "WHEN_SANDBOX"; when["manifest"] = "WHEN_MANIFEST"
        when["always"] = "WHEN_SANDBOX | WHEN_MANIFEST"
        print "/* Made from policy/" kind ".conf: do not edit. */"
}

{
        line = $0
        reason = ""
        i = index($0, "#")
        if (i > 0) {
                reason = substr($0, i + 1)
                gsub(/^[ \t]+|[ \t]+$/, "", reason)
                $0 = substr($0, 1, i - 1)
        }
        if (NF == 0)
                next
        if (kind == "baseline") {
                words(4)
                if (!($1 in when))
                        fail("unknown condition")
                printf "BASELINE_PATH(%s, %s, %s, %s, %s)\n", when[$1], access($2), how($3), quote($4), quote(reason)
        } else if (kind == "runtimes" && $1 == "runtime") {
                for (i = 3; i <= NF; i++)
                        printf "RUNTIME_COMMAND(%s, %s)\n", quote($2), quote($i)
        } else if (kind == "runtimes" && $1 == "path") {
                words(5)
                printf "RUNTIME_PATH(%s, %s, %s, %s, %s)\n", quote($2), access($3), how($4), quote($5), quote(reason)
        } else if (kind == "runtimes" && $1 == "manager") {
                words(2)
                printf "RUNTIME_MANAGER(%s, %s)\n", quote($2), quote(reason)
        } else if (kind == "keys") {
                words(1)
                printf "HOUSE_KEY(%s, %s)\n", quote($1), quote(reason)
        } else if (kind == "syscalls" && $1 == "newest") {
                words(2)
                if ($2 !~ /^[0-9]+$/ || newest != "")
                        fail("not the one number of the newest system call")
                newest = $2
                printf "NEWEST_SYSCALL(%d, %s)\n", $2, quote(reason)
        } else if (kind == "syscalls") {
                words(NF == 3 ? 3 : 2)
                if ($1 !~ /^E[A-Z0-9]+$/ || $2 !~ /^[a-z][a-z0-9_]*$/ || $3 !~ /^[0-9]*$/)
                        fail("not an errno, a system call and its number")
                printf "DENIED_SYSCALL(%s, %s, %d, %s)\n", $1, quote($2), $3, quote(reason)
        } else
                fail("not understood")
}

END {
        if (kind == "syscalls" && newest == "") {
                line = "its end"
                fail("no newest system call")
        }
        exit failed
}
