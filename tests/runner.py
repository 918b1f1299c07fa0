# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the suites and sums their cases.

  tests/run                    everything that belongs to every change, and is run by CI
  tests/run --without SUITE …  that, but for these: vm takes half of the time
  tests/run --full             that, and what takes longer: packaging, soak, bench, runtimes
  tests/run --also SUITE …     the first, and these
  tests/run --only SUITE …     unit, asan, fuzz, container, npm, packaging, soak, vm,
                               bench, runtimes (several may be given)
  tests/run --beside           suites that compute run beside those that wait; each one's output comes at its end
  tests/run --match TEXT       of the container suites and bench, only the cases with TEXT in their name; of packaging,
                               only the programs with TEXT in theirs ("deb trixie")

Build directories are build-ci and build-asan (clang's sanitizers, and the fuzz targets) in the tree;
what npm installs is in build-npm and build-runtimes; packages are in build-packaging.  The last line is "N passed, N failed"
(and ", N skipped"); the exit status is zero only if something passed and nothing failed.

vm runs the main path, limits and the escape suite on other kernels, in emulated machines, and installs the tools for
that.  The first time it fetches the kernels and makes roots, which stay in $XDG_CACHE_HOME/mcp-systemd/vm (~/.cache).
What cannot be fetched, or not be begun within forty minutes, is skipped with that reason.

packaging builds all packages and tries them in minimal Debians, whose roots stay in $XDG_CACHE_HOME/mcp-systemd/packaging.

runtimes has Go, pipx, Bun, Deno and pnpm start a server confined, in a home that is empty.

bench measures, in build-bench; tests/bench/run has more options.  A machine that does other things meanwhile can make
it fail, so it does not belong to every change.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import tap

TREE = pathlib.Path(__file__).resolve().parent.parent
TESTS = TREE / 'tests'
INSIDE = '/srv/mcp-systemd'
NPM_INSIDE = '/srv/mcp-npm'
NPM_DIR = TREE / 'build-npm'
RUNTIMES_DIR = TREE / 'build-runtimes'
MANAGERS = ('system', 'user')

SANITIZERS = {
    'ASAN_OPTIONS': 'detect_stack_use_after_return=1',
    'UBSAN_OPTIONS': 'print_stacktrace=1:halt_on_error=1',
}


class SuiteError(Exception):
    """A suite could not be run at all; counted as one failure with this text."""


class Output:
    """What the suites say: at once, or, of suites that run beside others, each one's in one piece."""

    def __init__(self):
        self.lock = threading.Lock()
        self.here = threading.local()

    def say(self, text=''):
        kept = getattr(self.here, 'kept', None)
        if kept is None:
            with self.lock:
                print(text, flush=True)
        else:
            kept.append(text)

    def keep(self):
        self.here.kept = []

    def let_go(self):
        with self.lock:
            print('\n'.join(self.here.kept), flush=True)
        self.here.kept = None


OUTPUT = Output()
say = OUTPUT.say


def run(command, what, **kwargs):
    """Runs a step that must work; its output is shown only if it doesn't."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors='replace',
        check=False,
        **kwargs,
    )
    if done.returncode != 0:
        raise SuiteError(f'{what} failed (exit status {done.returncode}):\n{done.stdout}')
    return done.stdout


_build_locks = collections.defaultdict(threading.Lock)


def set_up_build(name, *options, cc='gcc'):
    """Sets a build directory up once, and builds it."""
    with _build_locks[name]:
        return _set_up_build(name, *options, cc=cc)


def _set_up_build(name, *options, cc):
    build = TREE / name
    if not (build / 'build.ninja').exists():
        shutil.rmtree(build, ignore_errors=True)
        run(
            ['meson', 'setup', str(build), str(TREE), '-Dwerror=true', *options],
            f'meson setup {name}',
            env={**os.environ, 'CC': cc, 'CXX': {'gcc': 'g++', 'clang': 'clang++'}[cc]},
        )
    run(['ninja', '-C', str(build)], f'building {name}')
    return build


def meson_trouble(test):
    return (
        None
        if test['result'] in ('OK', 'EXPECTEDFAIL', 'SKIP')
        else f'{test["result"]} (exit status {test["returncode"]})'
    )


def meson_suite(build, *selection, env=None):
    """Runs meson's tests and counts the cases in what the programs printed."""
    log = build / 'meson-logs/testlog.json'
    log.unlink(missing_ok=True)
    command = [
        'meson',
        'test',
        '-C',
        str(build),
        '--no-rebuild',
        '--print-errorlogs',
        '--num-processes',
        str(os.cpu_count()),
        # Timeouts are for what hangs, not for a machine that is busy.
        '--timeout-multiplier=3',
    ]
    done = subprocess.run(
        [*command, *selection],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors='replace',
        check=False,
        env={**os.environ, **(env or {})},
    )
    if not log.exists():
        raise SuiteError(f'meson test wrote no log:\n{done.stdout}')
    tally = tap.Tally()
    for line in log.read_text(encoding='utf-8').splitlines():
        test = json.loads(line)
        part = count_meson_test(test)
        if part.failed:
            say(test.get('stdout', '') + '\n' + test.get('stderr', ''))
        tally.add(part)
    if done.returncode != 0 and not tally.failed:
        tally.failed.append(f'meson test exited with {done.returncode}')
        say(done.stdout)
    return tally


def count_meson_test(test):
    """A program that speaks no TAP (a script that checks the tree, say) is one case."""
    collector = tap.Collector(test['name'])
    for line in test.get('stdout', '').splitlines():
        collector.feed(line)
    if collector.cases or collector.plan is not None:
        return collector.finish(meson_trouble(test))
    if test['result'] == 'SKIP':
        return tap.Tally(
            skipped=[(test['name'], test.get('stdout', '').strip() or 'it asked to be skipped')]
        )
    trouble = meson_trouble(test)
    return tap.Tally(failed=[f'{test["name"]}: {trouble}']) if trouble else tap.Tally(passed=1)


# -- the suites ----------------------------------------------------------------


def suite_unit(_args):
    return meson_suite(set_up_build('build-ci'))


def sanitized_build():
    """One for both: clang's sanitizers, and what the fuzzer needs to see; it is the tests' time that counts."""
    return set_up_build(
        'build-asan',
        '-Dbuildtype=debug',
        '-Dfuzzers=true',
        '-Db_lundef=false',
        '-Db_sanitize=address,undefined',
        cc='clang',
    )


def suite_asan(_args):
    """What checks the tree runs no program of it, so once is enough."""
    return meson_suite(sanitized_build(), '--no-suite=tree', '--no-suite=fuzz', env=SANITIZERS)


def suite_fuzz(_args):
    build = sanitized_build()
    if not any('fuzz' in suite for test in introspect_tests(build) for suite in test['suite']):
        return tap.Tally(skipped=[('fuzz', 'the tree has no fuzz target')])
    return meson_suite(build, '--suite=fuzz', env=SANITIZERS)


def introspect_tests(build):
    return json.loads(run(['meson', 'introspect', '--tests', str(build)], 'meson introspect'))


def suite_container(args):
    return container_suite('container', args, ['tests/integration'], [f'{TREE}/build-ci/tests/escape:/srv/mcp-escape'])


def suite_npm(args):
    npm_fetch().result()
    return container_suite('npm', args, ['tests/npm'], [f'{NPM_DIR}:{NPM_INSIDE}'])


def suite_soak(args):
    return container_suite('soak', args, ['tests/soak'], [])


@functools.cache
def npm_fetch():
    """Has what npm fetches fetched while something else is done; its result() waits for that."""
    pool = concurrent.futures.ThreadPoolExecutor()
    future = pool.submit(install_npm)
    pool.shutdown(wait=False)
    return future


def install_npm():
    """The client lies beside the packages to find them."""
    NPM_DIR.mkdir(exist_ok=True)
    shutil.copy(TESTS / 'npm/client.mjs', NPM_DIR)
    install_pinned(TESTS / 'npm/package.json', NPM_DIR, '--ignore-scripts')


def install_pinned(package, directory, *options):
    """Installs the packages where they aren't yet."""
    directory.mkdir(exist_ok=True)
    wanted = package.read_text(encoding='utf-8')
    have = directory / 'package.json'
    if (directory / 'installed').exists() and have.read_text(encoding='utf-8') == wanted:
        return
    have.write_text(wanted, encoding='utf-8')
    run(
        ['npm', 'install', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error', *options],
        'npm install',
        cwd=directory,
    )
    (directory / 'installed').touch()


def suite_runtimes(_args):
    """The scripts of these packages put the programs where their names lead."""
    run([str(TREE / 'packaging/install-deps'), 'runtimes'], 'installing runtimes')
    install_pinned(TESTS / 'unit/runtimes/package.json', RUNTIMES_DIR)
    program = set_up_build('build-ci') / 'src/sandbox-exec/mcp-sandbox'
    tally = tap.Tally()
    for directory in ([], [str(RUNTIMES_DIR / 'node_modules/.bin')]):
        tally.add(
            stream('runtimes', [sys.executable, '-B', str(TESTS / 'unit/test-runtimes.py'), str(program), *directory])
        )
    return tally


def can_boot():
    """Skipping is for people without root; in CI a bed that can't boot is a failure."""
    if os.geteuid() == 0 or os.environ.get('CI'):
        return True
    return (
        shutil.which('sudo')
        and subprocess.run(['sudo', '-n', 'true'], stderr=subprocess.DEVNULL, check=False).returncode == 0
    )


def container_suite(name, args, directories, binds):
    if not can_boot():
        return tap.Tally(skipped=[(name, 'booting a container needs root, and sudo asks for a password')])
    build = set_up_build('build-ci')
    tally = tap.Tally()
    # The cases mostly wait, so each manager's have a container of their own, beside the other's.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for part in pool.map(lambda kind: in_container(build, name, kind, args, directories, binds), MANAGERS):
            tally.add(part)
    return tally


def in_container(build, name, kind, args, directories, binds):
    command = [
        sys.executable,
        '-B',
        str(TESTS / 'bed/container'),
        'run',
        f'--build={build}',
        f'--journal={build}/journal-{name}-{kind}.txt',
        *(f'--bind={bind}' for bind in binds),
        '--',
        'python3',
        '-B',
        f'{INSIDE}/tests/integration/run',
        f'--manager={kind}',
        *([f'--match={args.match}'] if args.match else []),
        *(f'{INSIDE}/{directory}' for directory in directories),
    ]
    return stream(name, command)


def suite_vm(args):
    if os.geteuid() != 0:
        return tap.Tally(skipped=[('vm', 'fetching kernels and making roots needs root')])
    if not all(map(shutil.which, ('qemu-system-x86_64', 'debootstrap', 'cpio', 'zstd'))):
        run([str(TREE / 'packaging/install-deps'), 'vm'], 'installing what emulated machines need')
    build = set_up_build('build-ci')
    match = [f'--match={args.match}'] if args.match else []
    return stream('vm', [sys.executable, '-B', str(TESTS / 'bed/vm'), f'--build={build}', '--minutes=40', *match])


def stream(name, command):
    """Runs a program that speaks TAP, shows what it says case by case, and counts."""
    collector = tap.Collector(name)
    case = []
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors='replace'
    ) as process:
        for line in process.stdout:
            if case and tap.is_case(line):
                say('\n'.join(case))
                case.clear()
            case.append(line.rstrip('\n'))
            collector.feed(line)
    if case:
        say('\n'.join(case))
    trouble = f'it ended with exit status {process.returncode}' if process.returncode else None
    return collector.finish(trouble)


# Packages of what is committed: looked at, compared, and tried in minimal Debians.
PACKAGING = (
    ('test-tarball.py',),
    ('test-formats.py',),
    *(
        (program, suite, *arguments)
        for suite in ('bookworm', 'trixie')
        for program, *arguments in (
            ('test-deb.py',),
            ('test-lifecycle.py',),
            ('test-autopkgtest.py',),
            ('test-images.py', 'usr'),
            ('test-images.py', 'extension'),
        )
    ),
)


def suite_packaging(args):
    if not can_boot():
        return tap.Tally(skipped=[('packaging', 'making roots needs root, and sudo asks for a password')])
    run([str(TREE / 'packaging/install-deps'), 'package'], 'installing what packaging needs')
    tally = tap.Tally()
    for program, *arguments in PACKAGING:
        name = ' '.join([program.removeprefix('test-').removesuffix('.py'), *arguments])
        if args.match and args.match not in name:
            continue
        began = time.monotonic()
        tally.add(stream(name, as_root([sys.executable, '-B', str(TESTS / 'packaging' / program), *arguments])))
        print(f'# {name}: {time.monotonic() - began:.0f} s', flush=True)
    return tally


def as_root(command):
    return command if os.geteuid() == 0 else ['sudo', '--', *command]


def suite_bench(args):
    run([str(TREE / 'packaging/install-deps'), 'bench'], 'installing what we are measured beside')
    match = [f'--match={args.match}'] if args.match else []
    return stream('bench', as_root([sys.executable, '-B', str(TESTS / 'bench/run'), '--tap', *match]))


SUITES = {
    'unit': suite_unit,
    'asan': suite_asan,
    'fuzz': suite_fuzz,
    'container': suite_container,
    'npm': suite_npm,
    'packaging': suite_packaging,
    'soak': suite_soak,
    'vm': suite_vm,
    'bench': suite_bench,
    'runtimes': suite_runtimes,
}
LONG_SUITES = ('packaging', 'soak', 'bench', 'runtimes')


# Those that keep the processors busy, and those that mostly wait, run beside each other.
LANES = (('unit', 'asan', 'fuzz'), ('container', 'npm'))


def run_suite(name, args):
    began = time.monotonic()
    say(f'== {name}')
    try:
        tally = SUITES[name](args)
    except SuiteError as e:
        say(str(e))
        tally = tap.Tally(failed=[f'{name}: {str(e).splitlines()[0]}'])
    for case, reason in tally.skipped:
        say(f'skipped: {case}: {reason}')
    for case in tally.failed:
        say(f'failed: {case}')
    say(f'== {name}: {tally} ({time.monotonic() - began:.0f} s)\n')
    return tally


def run_lane(names, args, niceness):
    """In a thread of its own, and to Linux a thread has a niceness of its own, which what it starts inherits."""
    os.setpriority(os.PRIO_PROCESS, 0, niceness)
    total = tap.Tally()
    for name in names:
        OUTPUT.keep()
        total.add(run_suite(name, args))
        OUTPUT.let_go()
    return total


def run_suites(wanted, args):
    total = tap.Tally()
    lanes = [[name for name in lane if name in wanted] for lane in LANES]
    beside = args.beside and all(lanes)
    if 'npm' in wanted:
        npm_fetch()
    if beside:
        print('== beside each other: ' + '; '.join(', '.join(lane) for lane in lanes) + '\n', flush=True)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            # The cases that wait are the ones that look at the clock.
            running = [pool.submit(run_lane, lane, args, 10 * (lane is lanes[0])) for lane in lanes]
        for lane in running:
            total.add(lane.result())
    for name in wanted:
        if not beside or not any(name in lane for lane in lanes):
            total.add(run_suite(name, args))
    return total


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog='tests/run'
    )
    parser.add_argument('--only', metavar='SUITE', nargs='+', choices=SUITES)
    parser.add_argument('--without', metavar='SUITE', nargs='+', choices=SUITES, default=[])
    parser.add_argument('--full', action='store_true')
    parser.add_argument('--also', metavar='SUITE', nargs='+', choices=LONG_SUITES, default=[])
    parser.add_argument('--beside', action='store_true')
    parser.add_argument('--match', metavar='TEXT')
    args = parser.parse_args()
    wanted = [
        name
        for name in SUITES
        if (name in args.only if args.only else args.full or name in args.also or name not in LONG_SUITES)
        and name not in args.without
    ]
    total = run_suites(wanted, args)
    for case in total.failed:
        print(f'failed: {case}')
    print(total, flush=True)
    return 0 if total.passed and not total.failed else 1


if __name__ == '__main__':
    sys.exit(main())
