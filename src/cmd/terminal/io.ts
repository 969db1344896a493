/** What a command sees of the process it runs in: streams, environment, clock, Ctrl-C. Tests hand in their own. */
import type { Clock } from '../../lib/clock.ts';
import type { CommandTrace } from '../client/command-trace.ts';

export interface TextStream {
  /** False: it holds more than it can pass on; more is welcome after `drain`. */
  write(text: string): unknown;
  once?(event: 'drain', listener: () => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

export interface Io {
  /** Answers. */
  readonly stdout: TextStream;
  /** Errors and warnings. */
  readonly stderr: TextStream;
  /** What is given to commands that read; absent: nothing. */
  readonly stdin?: () => AsyncIterable<Uint8Array | string>;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly clock: Clock;
  /** Aborted by the first SIGINT or SIGTERM while it is listened to. */
  readonly interrupted: () => AbortSignal;
  /** Notes what the command asks the service. Absent: nobody wants to know. */
  readonly trace?: CommandTrace;
}

export function print(io: Pick<Io, 'stdout'>, text: string): void {
  io.stdout.write(`${text}\n`);
}

export function printJson(io: Pick<Io, 'stdout'>, value: unknown): void {
  print(io, JSON.stringify(value, null, 2));
}
