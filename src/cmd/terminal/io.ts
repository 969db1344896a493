/** The process as a command sees it: streams, environment, clock, Ctrl-C. Tests pass their own. */
import type { Clock } from '../../lib/clock.ts';
import type { CommandTrace } from '../client/command-trace.ts';

/** The part of a writable stream that commands use. */
export interface TextStream {
  /** False: its buffer is full; write again after `drain`. */
  write(text: string): unknown;
  once?(event: 'drain', listener: () => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** `main.ts` makes it for the process, and `program.ts` adds the trace. */
export interface Io {
  /** Answers. */
  readonly stdout: TextStream;
  /** Errors and warnings. */
  readonly stderr: TextStream;
  /** Input of commands that read; absent: empty. */
  readonly stdin?: () => AsyncIterable<Uint8Array | string>;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Asks the person at the terminal; empty: no answer. Absent: there is no terminal, or its input or output goes elsewhere. */
  readonly ask?: (question: string) => Promise<string>;
  /** Where the command runs. Absent: the working directory of the process. */
  readonly directory?: string;
  readonly clock: Clock;
  /** A signal aborted by the first SIGINT or SIGTERM after the call. */
  readonly interrupted: () => AbortSignal;
  /** Records the command's requests to the service. Absent: recording is disabled. */
  readonly trace?: CommandTrace;
}

/** Adds the newline; does not wait for a slow reader. */
export function print(io: Pick<Io, 'stdout'>, text: string): void {
  io.stdout.write(`${text}\n`);
}

/** Indented, on several lines. */
export function printJson(io: Pick<Io, 'stdout'>, value: unknown): void {
  print(io, JSON.stringify(value, null, 2));
}
