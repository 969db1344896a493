/**
 * {@link SYSCALL_RULES} as a program for the kernel, which runs it at every system call of a job:
 *
 *     another architecture than ours?  ──► the process is killed       (32-bit programs, `int 0x80`: other numbers, no rules)
 *     a number of the x32 ABI, or one newer than we know? ──► ENOSYS
 *     rule after rule: its call, and its arguments? ──► its errno
 *     else ──► allowed
 *
 * The kernel remembers which calls are allowed with any arguments, so that ordinary ones cost nothing.
 */
import { assemble, DATA, end, type Instruction, jump, load } from './bpf.ts';
import { type Architecture, LAST_KNOWN_CALL, syscallNumber } from './syscall-numbers.ts';
import { type ArgumentTest, ERRNO, type Errno, SYSCALL_RULES, type SyscallRule } from './syscall-rules.ts';

/** linux/audit.h: machine, 64 bits, little-endian. */
export const AUDIT_ARCHITECTURE: { readonly [name in Architecture]: number } = {
  x86_64: 0xc000_003e,
  aarch64: 0xc000_00b7,
};

/** linux/seccomp.h; the errno is in the lower half. */
export const ACTION = { kill: 0x8000_0000, errno: 0x0005_0000, allow: 0x7fff_0000 } as const;

/** The program for this machine; undefined where its architecture is not supported. */
export function seccompFilter(nodeArchitecture: string = process.arch): Buffer | undefined {
  const architecture = NODE_NAMES[nodeArchitecture];
  return architecture === undefined ? undefined : assemble(filterProgram(architecture));
}

const NODE_NAMES: { readonly [name: string]: Architecture | undefined } = { x64: 'x86_64', arm64: 'aarch64' };

/** The instructions before they are encoded, for tests that run them. */
export function filterProgram(architecture: Architecture): readonly Instruction[] {
  return [
    load(DATA.architecture),
    jump('equal', AUDIT_ARCHITECTURE[architecture], 1, 0),
    end(ACTION.kill),
    load(DATA.number),
    // x32 marks its numbers with a high bit.
    jump('atLeast', LAST_KNOWN_CALL + 1, 0, 1),
    refuse('ENOSYS'),
    ...SYSCALL_RULES.flatMap(rule => ruleProgram(rule, architecture)),
    end(ACTION.allow),
  ];
}

function refuse(errno: Errno): Instruction {
  return end(ACTION.errno | ERRNO[errno]);
}

/** Begins and ends with the number of the call in the accumulator. */
function ruleProgram({ calls, errno, when = [] }: SyscallRule, architecture: Architecture): Instruction[] {
  const body = when.length === 0 ? [refuse(errno)] : [...conditions(when, errno), load(DATA.number)];
  return calls.flatMap(call => {
    const number = syscallNumber(call, architecture);
    return number === null ? [] : [jump('equal', number, 0, body.length), ...body];
  });
}

/** Refuses where all hold, else goes on after its last instruction. */
function conditions(tests: readonly ArgumentTest[], errno: Errno): Instruction[] {
  const [test, ...others] = tests;
  if (test === undefined) return [refuse(errno)];
  const rest = conditions(others, errno);
  return [load(DATA.argument(test.argument)), ...comparisons(test, rest.length), ...rest];
}

/** Continues with the next instruction where the test holds, else skips `rest` more. */
function comparisons(test: ArgumentTest, rest: number): Instruction[] {
  if (test.test === 'any-bit') return [jump('anyBit', test.mask, 0, rest)];
  const { values } = test;
  return values.map((value, index) => {
    const after = values.length - index - 1;
    const [found, exhausted] = test.test === 'one-of' ? [after, after + rest] : [after + rest, after];
    // Only the last comparison knows that none holds; the others continue with the next.
    return jump('equal', value, found, index === values.length - 1 ? exhausted : 0);
  });
}
