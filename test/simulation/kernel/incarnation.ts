/** One life of a process: what its code is given to stand on. */
import type { Clock, Nanoseconds } from '../../../src/lib/clock.ts';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid, type IdMaker } from '../../../src/lib/ids.ts';
import type { Log } from '../../../src/lib/log.ts';
import type { Kernel } from './kernel.ts';
import type { SimProcess } from './process.ts';
import { type Random, stream } from './random.ts';

export interface Incarnation {
  readonly process: SimProcess;
  readonly name: string;
  readonly generation: number;
  readonly random: Random;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  /** False once it was killed: nothing it does has an effect any more. */
  alive(): boolean;
  /** It ends by itself, e.g. because its session is over; a supervisor starts it again. */
  exit(reason: unknown): void;
  /** A task that is not awaited: its failure ends the process, as an unhandled rejection does. */
  background(task: Promise<unknown>): void;
}

/** Wall time at virtual time 0. */
const EPOCH = 1_795_000_000_000_000_000n;

export function incarnate(
  kernel: Kernel,
  process: SimProcess,
  seed: number,
  exit: (reason: unknown) => void,
): Incarnation {
  const { generation, name } = process;
  const life = `${name}/${process.starts}`;
  const random = stream(seed, life);
  const offset = BigInt(Math.round(process.clockOffset * 1e6));
  let last = 0n;
  let made = 0;
  const incarnation: Incarnation = {
    process,
    name,
    generation,
    random,
    clock: {
      now(): Nanoseconds {
        const wall = EPOCH + BigInt(Math.round(kernel.now * 1e6)) + offset;
        last = wall > last ? wall : last + 1n;
        return parseNanoseconds(last.toString());
      },
      monotonic: () => kernel.now,
    },
    ids: { uuid: () => derivedUuid('simulation', String(seed), life, String(++made)) },
    log: logOf(kernel, process),
    alive: () => process.generation === generation,
    exit,
    background(task) {
      task.catch(error => {
        if (process.generation === generation) exit(error);
      });
    },
  };
  return incarnation;
}

function logOf(kernel: Kernel, process: SimProcess): Log {
  const { generation } = process;
  const write = (level: string) => (facts: object, text: string) => {
    if (process.generation !== generation) return;
    const error =
      'err' in facts && facts.err instanceof Error ? ` (${facts.err.name}: ${facts.err.message})` : '';
    kernel.note(`${process.name} ${level}: ${text}${error}`);
  };
  const log: Log = {
    debug: () => {},
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => log,
  };
  return log;
}
