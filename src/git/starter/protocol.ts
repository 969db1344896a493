/**
 * The messages between the service and the process that starts git for it, over the channel of `fork`. Git's input and output do
 * not pass through that process: for each stream the service connects to its socket, names process and stream ({@link HEADER}),
 * and git gets the other end of the connection.
 *
 *     service ◄── ready ─────────────────── helper   once its socket is there
 *             ── start {id} ──────────────►        ── fork, exec ──► git
 *             ── connects, `i7\n`, `o7\n` ─►        gives git the connections as stdin and stdout, closes its own copies
 *             ◄── started {id, pid} ───────         from now on stdin may be written
 *             ── kill {id, signal} ────────►
 *             ◄── heard ───────────────────         a helper that does not answer is killed itself
 *             ◄── ended {id, stderr, end} ─
 */
import type { GitEnd, ProcessRequest } from '../process/git-process.ts';

/** `id` is a number of the service, the same on the connections of the process. */
export type ToHelper =
  | { readonly type: 'start'; readonly id: number; readonly request: ProcessRequest }
  | { readonly type: 'kill'; readonly id: number; readonly signal: NodeJS.Signals };

/** `ended` follows every `start`, once, also when git could not be started. */
export type FromHelper =
  | { readonly type: 'ready' }
  | { readonly type: 'started'; readonly id: number; readonly pid: number }
  /** A `kill` arrived. */
  | { readonly type: 'heard' }
  /** `stderr`: the first {@link MAX_STDERR} characters. */
  | { readonly type: 'ended'; readonly id: number; readonly end: GitEnd; readonly stderr: string };

/** Characters of a process's stderr that are kept. */
export const MAX_STDERR = 64 * 1024;

/** The first line of a connection: stdin (`i`) or stdout (`o`) of the process with this id. */
export const HEADER = /^([io])(\d+)\n$/;
