/** The service's log, kept in memory: a story that ends well must have no unexpected warnings or errors. */
import type { Log } from '../../src/lib/log.ts';

export interface StoryLog {
  readonly log: Log;
  /** Warnings and errors, as people would read them. */
  readonly trouble: readonly string[];
  /** Every line, also those for debugging; empty unless they are kept. */
  readonly all: readonly string[];
  /** The last lines, for the message of a failure. */
  tail(): string;
}

const KEPT = 40;

/** @param keepsAll for stories about what a log holds. */
export function storyLog({ keepsAll = false }: { readonly keepsAll?: boolean } = {}): StoryLog {
  const lines: string[] = [];
  const all: string[] = [];
  const trouble: string[] = [];
  const write = (level: string, facts: object, text: string) => {
    const line = `${level} ${text} ${factsText(facts)}`.trimEnd();
    if (keepsAll) all.push(line);
    if (level === 'debug') return;
    lines.push(line);
    if (lines.length > KEPT) lines.shift();
    if (level === 'warn' || level === 'error') trouble.push(line);
  };
  const logWith = (common: object): Log => ({
    debug: (facts, text) => {
      if (keepsAll) write('debug', { ...common, ...facts }, text);
    },
    info: (facts, text) => write('info', { ...common, ...facts }, text),
    warn: (facts, text) => write('warn', { ...common, ...facts }, text),
    error: (facts, text) => write('error', { ...common, ...facts }, text),
    child: facts => logWith({ ...common, ...facts }),
  });
  return { log: logWith({}), trouble, all, tail: () => lines.join('\n') };
}

function factsText(facts: object): string {
  return Object.entries(facts)
    .map(
      ([name, value]) =>
        `${name}=${value instanceof Error ? (value.stack ?? value.message) : JSON.stringify(value)}`,
    )
    .join(' ');
}
