/** The service's log: pino; JSON lines for machines, one readable line each for people. */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Log } from '../lib/log.ts';

/** Where the log goes and how much of it; `[log]` of the settings, on standard error. */
export interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly format: 'pretty' | 'json';
  readonly stream: NodeJS.WritableStream;
}

/** Facts called token, secret or password are redacted. Only `pretty` on a terminal has colours. */
export function createLog(options: LogOptions): Log {
  const colour = options.format === 'pretty' && 'isTTY' in options.stream && options.stream.isTTY === true;
  const destination = options.format === 'json' ? options.stream : prettyLines(options.stream, colour);
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['token', 'secret', 'password'],
    },
    destination,
  );
}

const LEVELS: { readonly [level: string]: readonly [name: string, colour: number] } = {
  '20': ['debug', 90],
  '30': ['info ', 36],
  '40': ['warn ', 33],
  '50': ['error', 31],
  '60': ['fatal', 31],
};

/** `17:04:05.123 info  the gate merged it  change="acme/app master/login,3f2a91c0" item=4f0c1b2a` */
function prettyLines(out: NodeJS.WritableStream, colour: boolean): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n'))
        if (line !== '') out.write(`${prettyLine(line, colour)}\n`);
      done();
    },
  });
}

function prettyLine(line: string, colour: boolean): string {
  const { level, time, msg, err, ...facts }: Record<string, unknown> = JSON.parse(line);
  const [name, code] = LEVELS[String(level)] ?? ['?    ', 0];
  const paint = (text: string, ansi: number) => (colour ? `\u001b[${ansi}m${text}\u001b[0m` : text);
  const clock = String(time).slice(11, 23);
  const details = shortened(facts).map(([key, value]) => `${key}=${plain(value)}`);
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? `\n${String(err.stack)}` : '';
  return `${paint(clock, 90)} ${paint(name, code)} ${String(msg)}  ${paint(details.join(' '), 90)}${stack}`.trimEnd();
}

/** Facts that are ids: people read the first digits, and can search for them. */
const IDS = new Set(['trace_id', 'span_id', 'event', 'item', 'buildset', 'build', 'request', 'report']);
const DIGITS = 8;

/** A trace or span id that begins like the item or build shown beside it is left out. */
function shortened(facts: object): readonly (readonly [string, unknown])[] {
  const short = Object.entries(facts).map(([key, value]): readonly [string, unknown] => [
    key,
    IDS.has(key) && typeof value === 'string' ? value.slice(0, DIGITS) : value,
  ]);
  const isOwner = (key: string) => IDS.has(key) && key !== 'trace_id' && key !== 'span_id';
  const owners = new Set(short.flatMap(([key, value]) => (isOwner(key) ? [value] : [])));
  return short.filter(([key, value]) => !((key === 'trace_id' || key === 'span_id') && owners.has(value)));
}

function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w./:@,-]+$/.test(text) ? text : JSON.stringify(text);
}
