/**
 * `trigger: {timer: [{time: '0 3 * * *'}]}`: the connection `timer` is always there and needs no section.
 *
 * What the parser returns parses to itself, so the stored form is read by the same function.
 */
import type { ParseResult } from '../../driver/parse-result.ts';
import { isMapping, parsedBefore, readMapping } from '../../driver/read-mapping.ts';
import { parseCron } from '../../lib/cron.ts';
import type { Json } from '../../model/job.ts';
import type { Pipeline } from '../../model/pipeline.ts';

/** The name by which pipelines know it, and of the driver in events. */
export const TIMER = 'timer';

type TimerTrigger = { readonly time: string; readonly dereference?: boolean };

/** `dereference` is taken and changes nothing: an item always names the commit that its branch held at the time. */
export function parseTimerTrigger(value: Json): ParseResult<TimerTrigger> {
  const mapping = readMapping(value, ['time', 'dereference'], 'a timer trigger');
  const dereference = mapping.boolean('dereference');
  const time = isMapping(value) ? value.time : undefined;
  const cron = typeof time === 'string' ? parseCron(time) : undefined;
  if (time === undefined) mapping.refuse([], 'missing-key', 'a timer trigger needs "time", e.g. "0 3 * * *"');
  else if (cron === undefined)
    mapping.refuse(['time'], 'wrong-type', '"time" in a timer trigger must be a string, e.g. "0 3 * * *"');
  else if (cron.kind === 'invalid')
    mapping.refuse(['time'], 'invalid-time', `"${time}" is no time of a timer: ${cron.reason}`);
  return mapping.result({
    time: typeof time === 'string' ? time : '',
    ...(dereference === undefined ? {} : { dereference }),
  });
}

/** The times at which the pipeline starts by itself, each once, as written. */
export function timesOf({ triggers }: Pick<Pipeline, 'triggers'>): readonly string[] {
  const own = triggers.filter(({ connection }) => connection === TIMER);
  return [...new Set(own.map(({ config }) => parsedBefore(parseTimerTrigger(config)).time))];
}
