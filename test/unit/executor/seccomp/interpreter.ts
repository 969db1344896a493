/** What the kernel does with a filter (net/core/filter.c, kernel/seccomp.c), for the instructions ours has. */
export interface Call {
  readonly architecture: number;
  readonly number: number;
  /** 64 bits each; missing ones are 0. */
  readonly arguments?: readonly bigint[];
}

const SIZE = 8;

/** @returns what the program returns. @throws Error for what the kernel would refuse to load or run. */
export function runFilter(program: Buffer, call: Call): number {
  const data = seccompData(call);
  let accumulator = 0;
  for (let at = 0; at * SIZE < program.length; at += 1) {
    const code = program.readUInt16LE(at * SIZE);
    const [jt, jf] = [program[at * SIZE + 2] ?? 0, program[at * SIZE + 3] ?? 0];
    const k = program.readUInt32LE(at * SIZE + 4);
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x06) return k;
    else if (code === 0x15) at += accumulator === k ? jt : jf;
    else if (code === 0x35) at += accumulator >= k ? jt : jf;
    else if (code === 0x45) at += (accumulator & k) !== 0 ? jt : jf;
    else throw new Error(`instruction ${at}: code ${code}`);
  }
  throw new Error('the program ran over its end');
}

function seccompData({ architecture, number, arguments: given = [] }: Call): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(architecture >>> 0, 4);
  given.forEach((value, index) => void data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index));
  return data;
}
