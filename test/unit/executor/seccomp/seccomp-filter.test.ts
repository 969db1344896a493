import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ACTION,
  AUDIT_ARCHITECTURE,
  filterProgram,
  seccompFilter,
} from '../../../../src/executor/sandbox/seccomp/seccomp-filter.ts';
import {
  ARCHITECTURES,
  type Architecture,
  LAST_KNOWN_CALL,
  type SyscallName,
  syscallNumber,
} from '../../../../src/executor/sandbox/seccomp/syscall-numbers.ts';
import {
  type ArgumentTest,
  ERRNO,
  SYSCALL_RULES,
} from '../../../../src/executor/sandbox/seccomp/syscall-rules.ts';
import { runFilter } from './interpreter.ts';

const FILTERS = { x86_64: seccompFilter('x64'), aarch64: seccompFilter('arm64') };

function answer(architecture: Architecture, number: number, given: readonly bigint[] = []): number {
  const filter = FILTERS[architecture];
  if (filter === undefined) throw new Error(`no filter for ${architecture}`);
  return runFilter(filter, {
    architecture: AUDIT_ARCHITECTURE[architecture],
    number,
    arguments: given,
  });
}

function call(architecture: Architecture, name: SyscallName, ...given: readonly bigint[]): number {
  const number = syscallNumber(name, architecture);
  if (number === null) throw new Error(`${architecture} has no ${name}`);
  return answer(architecture, number, given);
}

const refused = (errno: keyof typeof ERRNO): number => ACTION.errno + ERRNO[errno];

/** The table, read in the plainest way. */
function expected(architecture: Architecture, number: number, given: readonly bigint[]): number {
  if (number > LAST_KNOWN_CALL) return refused('ENOSYS');
  const rule = SYSCALL_RULES.find(
    ({ calls, when = [] }) =>
      calls.some(name => syscallNumber(name, architecture) === number) &&
      when.every(each => holds(each, Number(BigInt.asUintN(32, given[each.argument] ?? 0n)))),
  );
  return rule === undefined ? ACTION.allow : refused(rule.errno);
}

function holds(each: ArgumentTest, value: number): boolean {
  switch (each.test) {
    case 'any-bit':
      return (value & each.mask) !== 0;
    case 'one-of':
      return each.values.includes(value);
    case 'none-of':
      return !each.values.includes(value);
  }
}

const words = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, 10n, 16n, 40n, 0x4206n, 0x5412n, 0x541cn, 0x80n, 0x1000_0000n, 0x1200_0000n),
  fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }),
);

describe.each(ARCHITECTURES)('the filter of system calls on %s', architecture => {
  test('says for every number and every argument what the table says', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.nat(LAST_KNOWN_CALL + 50),
          fc.constantFrom(...SYSCALL_RULES.flatMap(({ calls }) => calls)).map(name => {
            return syscallNumber(name, architecture) ?? 0;
          }),
        ),
        fc.array(words, { maxLength: 6 }),
        (number, given) => {
          expect(answer(architecture, number, given)).toBe(expected(architecture, number, given));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  test('refuses every call of the table, by its first rule that has no condition', () => {
    for (const { calls, errno, when } of SYSCALL_RULES)
      for (const name of calls)
        if (when === undefined && syscallNumber(name, architecture) !== null)
          expect([name, call(architecture, name)]).toEqual([name, refused(errno)]);
  });

  test('lets sockets of the four usual families through, and of netlink only the routes', () => {
    for (const family of [1n, 2n, 10n]) expect(call(architecture, 'socket', family)).toBe(ACTION.allow);
    expect(call(architecture, 'socket', 16n, 3n, 0n)).toBe(ACTION.allow);
    expect(call(architecture, 'socket', 16n, 3n, 9n)).toBe(refused('EAFNOSUPPORT'));
    expect(call(architecture, 'socket', 40n, 1n, 0n)).toBe(refused('EAFNOSUPPORT'));
  });

  test('is not misled by the upper half of an argument, which the kernel does not read', () => {
    expect(call(architecture, 'socket', 0xdead_beef_0000_0028n)).toBe(refused('EAFNOSUPPORT'));
    expect(call(architecture, 'ioctl', 0n, 0x1_0000_5412n)).toBe(refused('EPERM'));
    expect(call(architecture, 'socket', 0x1_0000_0001n)).toBe(ACTION.allow);
  });

  test('lets processes and threads be made, but no namespaces', () => {
    // What fork() and pthread_create() of glibc pass.
    for (const flags of [0x0120_0011n, 0x003d_0f00n])
      expect(call(architecture, 'clone', flags)).toBe(ACTION.allow);
    for (const flag of [0x0002_0000n, 0x0200_0000n, 0x1000_0000n, 0x4000_0000n])
      expect(call(architecture, 'clone', flag | 17n)).toBe(refused('EPERM'));
    expect(call(architecture, 'unshare', 0x80n)).toBe(refused('EPERM'));
    // CLONE_FILES
    expect(call(architecture, 'unshare', 0x400n)).toBe(ACTION.allow);
  });

  test('lets a debugger start what it debugs, and attach to nothing', () => {
    expect(call(architecture, 'ptrace', 0n)).toBe(ACTION.allow);
    expect(call(architecture, 'ptrace', 16n)).toBe(refused('EPERM'));
    expect(call(architecture, 'ptrace', 0x4206n)).toBe(refused('EPERM'));
  });

  test('kills calls of any other architecture, and knows no x32', () => {
    const filter = FILTERS[architecture] ?? Buffer.alloc(0);
    // i386, arm, the other one of ours.
    for (const other of [0x4000_0003, 0x4000_0028, ...Object.values(AUDIT_ARCHITECTURE)])
      if (other !== AUDIT_ARCHITECTURE[architecture])
        expect(runFilter(filter, { architecture: other, number: 1 })).toBe(ACTION.kill);
    expect(answer(architecture, 0x4000_0000)).toBe(refused('ENOSYS'));
    expect(answer(architecture, 0xffff_ffff)).toBe(refused('ENOSYS'));
  });

  test('is a program the kernel loads: every jump lands inside, the end is a return', () => {
    const program = filterProgram(architecture);
    expect(program.length).toBeLessThan(4096);
    expect(program.at(-1)?.code).toBe(0x06);
    program.forEach(({ jt, jf }, index) => {
      expect(index + 1 + Math.max(jt, jf)).toBeLessThan(program.length + (jt + jf === 0 ? 1 : 0));
    });
  });
});

test('an architecture without a table has no filter', () => {
  expect(seccompFilter('riscv64')).toBeUndefined();
});

describe('the numbers of system calls', () => {
  const HEADERS: { readonly [name in Architecture]: string } = {
    x86_64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h',
    aarch64: '/usr/include/asm-generic/unistd.h',
  };
  const names = [...new Set(SYSCALL_RULES.flatMap(({ calls }) => calls))];

  test('are those of the headers, where this machine has them', () => {
    for (const architecture of ARCHITECTURES.filter(each => existsSync(HEADERS[each]))) {
      const text = readFileSync(HEADERS[architecture], 'latin1');
      for (const name of names) {
        const found = new RegExp(`^#define __NR(?:3264)?_${name}\\s+(\\d+)$`, 'm').exec(text)?.[1];
        expect([name, syscallNumber(name, architecture)]).toEqual([
          name,
          found === undefined ? null : Number(found),
        ]);
      }
    }
  });

  test('belong to one call each', () => {
    for (const architecture of ARCHITECTURES) {
      const numbers = names.flatMap(name => syscallNumber(name, architecture) ?? []);
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(Math.max(...numbers)).toBeLessThan(LAST_KNOWN_CALL);
    }
  });
});
