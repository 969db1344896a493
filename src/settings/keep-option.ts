/**
 * `[tracing] keep`: outcomes of items that are traced regardless of the ratio.
 *
 *     keep = failure, error, reset, slower than 30m
 */
import { parseDuration } from '../lib/duration.ts';
import { didYouMean } from '../lib/nearest-name.ts';
import type { OptionReader } from '../lib/option-reader.ts';

const OUTCOMES = [
  'failure',
  'error',
  'merge-conflict',
  'config-error',
  'dequeued',
  'superseded',
  'reset',
] as const;

/** An item that meets one of these is kept; with no outcome and no time, sampling alone decides. */
export interface KeepSettings {
  readonly outcomes: readonly (typeof OUTCOMES)[number][];
  /** Of `slower than`; null: not given. */
  readonly slowerThanMs: number | null;
}

/**
 * Refuses an unknown word through `read` and reads on, so that all mistakes of the option show. An outcome named twice counts
 * once.
 */
export function readKeep(read: OptionReader): KeepSettings {
  const outcomes = new Set<KeepSettings['outcomes'][number]>();
  let slowerThanMs: number | null = null;
  const words = [...read.words('keep')];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === 'slower') {
      if (slowerThanMs !== null) read.refuse('keep', 'says "slower than" twice; keep one of them');
      slowerThanMs = slowerThan(words.splice(0, 2), read);
      continue;
    }
    const outcome = OUTCOMES.find(known => known === word);
    if (outcome === undefined) read.refuse('keep', unknownText(word));
    else outcomes.add(outcome);
  }
  return { outcomes: [...outcomes], slowerThanMs };
}

function slowerThan([than, text = '']: readonly string[], read: OptionReader): number | null {
  const seconds = than === 'than' ? parseDuration(text) : undefined;
  if (seconds !== undefined) return seconds * 1000;
  read.refuse('keep', '"slower" must be followed by "than" and a duration such as 90s, 30m or 2h');
  return null;
}

function unknownText(word: string): string {
  const wanted = `${OUTCOMES.join(', ')} or "slower than" with a duration`;
  return `"${word}" is not one of ${wanted}${didYouMean(word, [...OUTCOMES, 'slower'])}`;
}
