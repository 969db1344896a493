/**
 * The few instructions of classic BPF that a seccomp filter needs, in the kernel's encoding: an array of
 * `struct sock_filter { u16 code; u8 jt; u8 jf; u32 k; }` in the byte order of the machine (both supported ones are little-endian).
 *
 * A jump skips the given number of instructions: `jt` where the comparison holds, `jf` where it does not.
 */
export interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

/** `BPF_LD | BPF_W | BPF_ABS`, and so on: linux/bpf_common.h. */
const CODE = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, return: 0x06 } as const;

/** Offsets into `struct seccomp_data`, in bytes. */
export const DATA = { number: 0, architecture: 4, argument: (index: number) => 16 + 8 * index } as const;

/** The offset of a jump is one byte. */
const MOST_SKIPPED = 255;
/** `BPF_MAXINSNS`. */
const MOST_INSTRUCTIONS = 4096;

/** Loads the word at `offset` of the call's data into the accumulator, which comparisons use. */
export function load(offset: number): Instruction {
  return { code: CODE.load, jt: 0, jf: 0, k: offset };
}

/** Ends the program. @param action one of `ACTION` in `seccomp-filter.ts`, an errno in its lower half. */
export function end(action: number): Instruction {
  return { code: CODE.return, jt: 0, jf: 0, k: action >>> 0 };
}

/**
 * @param ifTrue instructions to skip where it holds; likewise `ifFalse`.
 * @throws RangeError for a jump further than 255.
 */
export function jump(
  test: 'equal' | 'atLeast' | 'anyBit',
  k: number,
  ifTrue: number,
  ifFalse: number,
): Instruction {
  if (Math.max(ifTrue, ifFalse) > MOST_SKIPPED) throw new RangeError(`a jump of ${ifTrue} or ${ifFalse}`);
  return { code: CODE[test], jt: ifTrue, jf: ifFalse, k: k >>> 0 };
}

/** @throws RangeError for a program the kernel would refuse for its length. */
export function assemble(program: readonly Instruction[]): Buffer {
  if (program.length > MOST_INSTRUCTIONS) throw new RangeError(`${program.length} instructions`);
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, jt, jf, k }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k, index * 8 + 4);
  });
  return bytes;
}
