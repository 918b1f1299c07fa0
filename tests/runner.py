# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the suites and sums their cases.

  tests/run                    everything that belongs to every change
  tests/run --full             that, and what takes longer: packaging, soak, vm, bench
  tests/run --also SUITE …     the first, and these
  tests/run --only SUITE …     unit, asan, fuzz, container, npm, packaging, soak, vm,
                               bench (several may be given)
  tests/run --match TEXT       of the container suites and bench, only the cases with TEXT in their name; of packaging,
                               only the programs with TEXT in theirs ("deb trixie")

Build directories are build-ci, build-asan and build-fuzz in the tree; what npm installs is in
build-npm; packages are in build-packaging.  The last line is "N passed, N failed" (and ", N skipped");
the exit status is zero only if something passed and nothing failed.

vm runs the main path, limits and the escape suite on other kernels, in emulated machines, and installs the tools for
that.  The first time it fetches the kernels and makes roots, which stay in $XDG_CACHE_HOME/mcp-systemd/vm (~/.cache).

packaging builds all packages and tries them in minimal Debians, whose roots stay in $XDG_CACHE_HOME/mcp-systemd/packaging.

bench measures, in build-bench; tests/bench/run has more options.  A machine that does other things meanwhile can make
it fail, so it does not belong to every change.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import tap

TREE = pathlib.Path(__file__).resolve().parent.parent
TESTS = TREE / 'tests'
INSIDE = '/srv/mcp-systemd'
NPM_INSIDE = '/srv/mcp-npm'
NPM_DIR = TREE / 'build-npm'

SANITIZERS = {
    'ASAN_OPTIONS': 'detect_stack_use_after_return=1',
    'UBSAN_OPTIONS': 'print_stacktrace=1:halt_on_error=1',
}


class SuiteError(Exception):
    """A suite could not be run at all; counted as one failure with this text."""


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


def set_up_build(name, *options, cc='gcc'):
    """Sets a build directory up once, and builds it."""
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


def meson_suite(build, suites=(), env=None):
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
        '--timeout-multiplier=6',
    ]
    done = subprocess.run(
        command + [f'--suite={s}' for s in suites],
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
            print(test.get('stdout', ''), test.get('stderr', ''), sep='\n')
        tally.add(part)
    if done.returncode != 0 and not tally.failed:
        tally.failed.append(f'meson test exited with {done.returncode}')
        print(done.stdout)
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


def suite_asan(_args):
    build = set_up_build('build-asan', '-Db_sanitize=address,undefined', '-Db_lundef=false')
    return meson_suite(build, env=SANITIZERS)


def suite_fuzz(_args):
    build = set_up_build(
        'build-fuzz', '-Dfuzzers=true', '-Db_lundef=false', '-Db_sanitize=address,undefined', cc='clang'
    )
    if not any('fuzz' in suite for test in introspect_tests(build) for suite in test['suite']):
        return tap.Tally(skipped=[('fuzz', 'the tree has no fuzz target')])
    return meson_suite(build, suites=['fuzz'], env=SANITIZERS)


def introspect_tests(build):
    return json.loads(run(['meson', 'introspect', '--tests', str(build)], 'meson introspect'))


def suite_container(args):
    return container_suite('container', args, ['tests/integration'], [f'{TREE}/build-ci/tests/escape:/srv/mcp-escape'])


def suite_npm(args):
    install_npm()
    return container_suite('npm', args, ['tests/npm'], [f'{NPM_DIR}:{NPM_INSIDE}'])


def suite_soak(args):
    return container_suite('soak', args, ['tests/soak'], [])


def install_npm():
    """Installs the pinned packages where they aren't yet; the client lies beside them to find them."""
    NPM_DIR.mkdir(exist_ok=True)
    shutil.copy(TESTS / 'npm/client.mjs', NPM_DIR)
    wanted = (TESTS / 'npm/package.json').read_text(encoding='utf-8')
    have = NPM_DIR / 'package.json'
    if (NPM_DIR / 'installed').exists() and have.read_text(encoding='utf-8') == wanted:
        return
    have.write_text(wanted, encoding='utf-8')
    run(
        [
            'npm',
            'install',
            '--no-package-lock',
            '--ignore-scripts',
            '--no-audit',
            '--no-fund',
            '--loglevel=error',
        ],
        'npm install',
        cwd=NPM_DIR,
    )
    (NPM_DIR / 'installed').touch()


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
    journal = build / f'journal-{name}.txt'
    command = [
        sys.executable,
        '-B',
        str(TESTS / 'bed/container'),
        'run',
        f'--build={build}',
        f'--journal={journal}',
        *(f'--bind={bind}' for bind in binds),
        '--',
        'python3',
        '-B',
        f'{INSIDE}/tests/integration/run',
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
    return stream('vm', [sys.executable, '-B', str(TESTS / 'bed/vm'), f'--build={build}', *match])


def stream(name, command):
    """Runs a program that speaks TAP, shows what it says, and counts."""
    collector = tap.Collector(name)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors='replace'
    ) as process:
        for line in process.stdout:
            print(line, end='', flush=True)
            collector.feed(line)
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
}
LONG_SUITES = ('packaging', 'soak', 'vm', 'bench')


def run_suite(name, args):
    began = time.monotonic()
    print(f'== {name}', flush=True)
    try:
        tally = SUITES[name](args)
    except SuiteError as e:
        print(e)
        tally = tap.Tally(failed=[f'{name}: {str(e).splitlines()[0]}'])
    for case, reason in tally.skipped:
        print(f'skipped: {case}: {reason}')
    for case in tally.failed:
        print(f'failed: {case}')
    print(f'== {name}: {tally} ({time.monotonic() - began:.0f} s)\n', flush=True)
    return tally


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog='tests/run'
    )
    parser.add_argument('--only', metavar='SUITE', nargs='+', choices=SUITES)
    parser.add_argument('--full', action='store_true')
    parser.add_argument('--also', metavar='SUITE', nargs='+', choices=LONG_SUITES, default=[])
    parser.add_argument('--match', metavar='TEXT')
    args = parser.parse_args()
    wanted = args.only or [
        name for name in SUITES if args.full or name in args.also or name not in LONG_SUITES
    ]
    total = tap.Tally()
    for name in SUITES:
        if name in wanted:
            total.add(run_suite(name, args))
    for case in total.failed:
        print(f'failed: {case}')
    print(total, flush=True)
    return 0 if total.passed and not total.failed else 1


if __name__ == '__main__':
    sys.exit(main())
