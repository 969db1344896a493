/** The filter in the kernel of this machine: a job asks for what it may not have. Perl makes the calls; Debian's base has it. */
import { afterAll, expect, test } from 'vitest';
import { type SyscallName, syscallNumber } from '../../../../src/executor/sandbox/seccomp/syscall-numbers.ts';
import { ERRNO, SYSCALL_RULES } from '../../../../src/executor/sandbox/seccomp/syscall-rules.ts';
import { describeOnBubblewrap } from '../../../setup/bubblewrap.ts';
import { buildRequest, openBench, script } from '../fixture.ts';

const ARCHITECTURE = process.arch === 'arm64' ? 'aarch64' : 'x86_64';

interface Attempt {
  readonly name: SyscallName;
  readonly given: readonly number[];
  /** 0: it must work. */
  readonly errno: number;
}

const attempt = (name: SyscallName, errno: number, ...given: readonly number[]): Attempt => ({
  name,
  errno,
  given,
});

const UNCONDITIONAL = SYSCALL_RULES.filter(({ when }) => when === undefined).flatMap(({ calls, errno }) =>
  calls.map(name => attempt(name, ERRNO[errno], 0, 0, 0, 0, 0)),
);

const CONDITIONAL = [
  attempt('socket', ERRNO.EAFNOSUPPORT, 40, 1, 0),
  attempt('socket', ERRNO.EAFNOSUPPORT, 38, 5, 0),
  attempt('socket', ERRNO.EAFNOSUPPORT, 17, 3, 0),
  attempt('socket', ERRNO.EAFNOSUPPORT, 16, 3, 9),
  attempt('socket', 0, 16, 3, 0),
  attempt('socket', 0, 1, 1, 0),
  attempt('socket', 0, 2, 1, 0),
  // Of the first process of the sandbox, as PTRACE_ATTACH and PTRACE_SEIZE.
  attempt('ptrace', ERRNO.EPERM, 16, 1, 0, 0),
  attempt('ptrace', ERRNO.EPERM, 0x4206, 1, 0, 0),
  attempt('unshare', ERRNO.EPERM, 0x1000_0000),
  attempt('unshare', 0, 0x400),
  attempt('ioctl', ERRNO.EPERM, 0, 0x5412, 0),
];

function perl(attempts: readonly Attempt[]): string {
  const lines = attempts.map(({ name, given }, index) => {
    const number = syscallNumber(name, ARCHITECTURE);
    return `$! = 0; $r = syscall(${[number, ...given].join(', ')}); printf "call ${index} %d\\n", $r < 0 ? $! : 0;`;
  });
  return `exec perl -e '${lines.join('\n')}'`;
}

const bench = await openBench({ sandbox: 'auto' });
afterAll(() => bench[Symbol.asyncDispose]());

async function answers(attempts: readonly Attempt[]): Promise<unknown[]> {
  const commit = await bench.commit({ 'ci/calls.sh': script(perl(attempts)) });
  const { log } = await bench.submit(buildRequest(commit, { run: ['ci/calls.sh'] })).ended;
  const said = new Map(
    [...log.matchAll(/\| call (\d+) (\d+)$/gm)].map(([, at, errno]) => [Number(at), errno]),
  );
  return attempts.map(({ name, given }, index) => [name, given, Number(said.get(index) ?? -1)]);
}

const wanted = (attempts: readonly Attempt[]) =>
  attempts.map(({ name, given, errno }) => [name, given, errno]);

describeOnBubblewrap('the system calls of a job', () => {
  test('are refused by the kernel as the table says', async () => {
    expect(bench.executor.sandboxReport).toContain('system calls filtered');
    const attempts = UNCONDITIONAL.filter(({ name }) => syscallNumber(name, ARCHITECTURE) !== null);
    expect(await answers(attempts)).toEqual(wanted(attempts));
  });

  test('are refused by their arguments where the call itself is ordinary', async () => {
    expect(await answers(CONDITIONAL)).toEqual(wanted(CONDITIONAL));
  });

  test('are enough for threads, processes, sockets, debuggers and what builds are made with', async () => {
    const commit = await bench.commit({
      'ci/work.sh': script(`set -e
git init -q "$TMPDIR/r" && git -C "$TMPDIR/r" -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && echo git works
perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die; my $p = fork; if (!$p) { syswrite B, "hi"; exit 0 } sysread A, $x, 2; waitpid $p, 0; print "perl says $x\\n"'
getent ahosts 127.0.0.1 | grep -q 127.0.0.1 && echo names resolve
tar -C / -cf - etc/os-release usr/lib/os-release 2>/dev/null | tar -xf - -C "$TMPDIR" && echo tar works
yes | head -c 1000000 | sort -S 100k -T "$TMPDIR" | uniq -c && echo pipes work
if command -v node >/dev/null; then node -e 'const{Worker}=require("worker_threads");new Worker("require(\\"fs\\").promises.readFile(\\"/etc/os-release\\").then(()=>console.log(\\"node works\\"))",{eval:true})'; fi`),
    });
    const { result, log } = await bench.submit(buildRequest(commit, { run: ['ci/work.sh'] })).ended;
    expect(log).toContain('| perl says hi');
    for (const word of ['git works', 'names resolve', 'tar works', 'pipes work'])
      expect(log).toContain(`| ${word}`);
    expect(result).toMatchObject({ result: 'SUCCESS' });
  });
});
