/**
 * `[notify NAME]`: of what people are informed while items are on their way, and through which connection.
 *
 *     [notify core-team]
 *     connection = chat
 *     events = failed, reset-twice, head-stuck
 *     pipelines = gate
 *     channel = core
 *
 * Options that are not listed here, such as `channel`, belong to the driver of the connection: they are those of its reporters.
 */
import { didYouMean } from '../lib/nearest-name.ts';
import { type OptionProblem, type OptionSection, optionReader } from '../lib/option-reader.ts';
import { NOTICE_EVENTS, type NoticeEvent } from '../model/notice.ts';
import { DEFAULT_NOTICE_BOUNDS } from '../model/notice-bounds.ts';

/** One rule. A list that is empty excludes nothing. */
export interface NotifySettings {
  readonly name: string;
  /** Name of a `[connection NAME]` that takes messages. */
  readonly connection: string;
  /** At least one. Default all. */
  readonly events: readonly NoticeEvent[];
  readonly tenants: readonly string[];
  readonly pipelines: readonly string[];
  /** Names of projects at their host: `acme/app`. */
  readonly projects: readonly string[];
  /** Seconds for which a head waits for one and the same thing. Default 1800. */
  readonly stuckAfter: number;
  /** Seconds between what was first forecast and what is forecast now. Default 1800. */
  readonly slippedBy: number;
  /** Messages in an hour by one scheduler. Default 60. */
  readonly mostPerHour: number;
  /** The options of the driver. */
  readonly reporter: OptionSection;
}

const OWN = new Set([
  ...['connection', 'events', 'tenants', 'pipelines', 'projects'],
  ...['stuck_after', 'slipped_by', 'most_per_hour'],
]);

/** Also true of `[notify]` without a name, which {@link readNotify} refuses. @param name of a section, as in the file. */
export function isNotify(name: string): boolean {
  return /^notify(\s|$)/.test(name);
}

/** All of them, in the order of the file. */
export function readNotify(
  sections: Iterable<OptionSection>,
  problems: OptionProblem[],
): readonly NotifySettings[] {
  const rules: NotifySettings[] = [];
  for (const section of sections) {
    if (!isNotify(section.name)) continue;
    const found = readRule(section, rules);
    if ('connection' in found) rules.push(found);
    else problems.push(...found.problems);
  }
  return rules;
}

function readRule(
  section: OptionSection,
  others: readonly NotifySettings[],
): NotifySettings | { readonly problems: readonly OptionProblem[] } {
  const isOwn = ([option]: readonly [string, unknown]) => OWN.has(option);
  const read = optionReader({ ...section, options: new Map([...section.options].filter(isOwn)) });
  const name = section.name.replace(/^notify\s*/, '');
  const named = read.words('events');
  const events = NOTICE_EVENTS.filter(event => named.includes(event));
  for (const word of named)
    if (!NOTICE_EVENTS.some(event => event === word))
      read.refuse(
        'events',
        `"${word}" is not one of ${NOTICE_EVENTS.join(', ')}${didYouMean(word, NOTICE_EVENTS)}`,
      );
  const { stuckAfterMs, slippedByMs } = DEFAULT_NOTICE_BOUNDS;
  const rule: NotifySettings = {
    name,
    connection: read.required('connection'),
    events: named.length === 0 ? NOTICE_EVENTS : events,
    tenants: read.words('tenants'),
    pipelines: read.words('pipelines'),
    projects: read.words('projects'),
    stuckAfter: read.duration('stuck_after', { min: 60, max: 7 * 86_400 }, stuckAfterMs / 1000),
    slippedBy: read.duration('slipped_by', { min: 60, max: 7 * 86_400 }, slippedByMs / 1000),
    mostPerHour: read.integer('most_per_hour', { min: 1, max: 10_000 }, 60),
    reporter: { ...section, options: new Map([...section.options].filter(option => !isOwn(option))) },
  };
  const problems = [...nameProblems(section, name, others), ...read.finish()];
  return problems.length === 0 ? rule : { problems };
}

function nameProblems(
  section: OptionSection,
  name: string,
  others: readonly NotifySettings[],
): readonly OptionProblem[] {
  const refuse = (reason: string) => [{ at: section.at, section: section.name, reason }];
  if (name === '') return refuse('lacks a name; write [notify NAME]');
  if (!/^[\w.-]{1,60}$/.test(name))
    return refuse(`"${name}" is not a name of up to 60 letters, digits, ".", "_" and "-"`);
  const other = others.find(each => each.name === name);
  return other === undefined ? [] : refuse(`is there twice, first at line ${other.reporter.at.line}`);
}
