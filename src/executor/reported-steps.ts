/**
 * Parses the lines of a step file (`step-file.ts` has the format) into steps, one line at a time and within a budget. The lines are
 * written by the job, so they are not trusted beyond drawing them: a malformed line is left out, a step that never ended ends with
 * its playbook, and steps beyond the budget are counted.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import { stripUserinfo } from '../lib/redact.ts';
import type { Step, StepKind } from '../model/step.ts';

/** Budget for a build's steps: they travel and are stored with its result. */
export interface StepBudget {
  readonly steps: number;
  /** Of their JSON, estimated. */
  readonly bytes: number;
}

/** What a playbook reported, as far as the budget went. */
export interface ReportedSteps {
  readonly steps: readonly Step[];
  /** Number of steps left out. */
  readonly dropped: number;
  /** Used of the budget. */
  readonly used: StepBudget;
  /** Hosts that some step, kept or not, could not reach; what the job says, each once. */
  readonly unreachable: readonly string[];
  /** Why `job-output.json` lacks what came after, as the job says. Absent: it says nothing. */
  readonly lost?: string;
}

/** Reads the step file of one playbook. */
export interface StepListener {
  /** One line without its newline; a malformed one has no effect. */
  line(text: string): void;
  /** @param at when the playbook ended. */
  end(at: Nanoseconds): ReportedSteps;
}

interface Begun {
  readonly kind: StepKind;
  readonly name: string;
  readonly key: string | undefined;
  readonly startedAt: Nanoseconds;
  readonly depth: number;
  readonly parts: Begun[];
  facts: NonNullable<Step['facts']>;
  ended: { readonly at: Nanoseconds; readonly result: Step['result'] } | undefined;
}

/** Kinds a job may report; only kinds whose span id a program may know beforehand keep their id as key. */
const KINDS: ReadonlyMap<string, { readonly kind: StepKind; readonly keyed: boolean }> = new Map([
  ['step', { kind: 'ScriptStep', keyed: true }],
  ['play', { kind: 'AnsiblePlay', keyed: false }],
  ['task', { kind: 'AnsibleTask', keyed: false }],
]);
const RESULTS: ReadonlyMap<string, NonNullable<Step['result']>> = new Map([
  ['SUCCESS', 'SUCCESS'],
  ['FAILURE', 'FAILURE'],
  ['TIMED_OUT', 'TIMED_OUT'],
  ['ABORTED', 'ABORTED'],
]);
const TEXT_FACTS = new Set(['host', 'module', 'outcome']);
/** The only file whose loss is reported. */
const TASK_RESULTS = 'job-output.json';
const LONGEST_NAME = 200;
const DEEPEST = 16;
const MOST_HOSTS = 1_000;
/** JSON of a step without its key, texts and facts. */
const STEP_BYTES = 190;

/** @param budget what the earlier playbooks of the build have left. */
export function listenToSteps(budget: StepBudget): StepListener {
  const top: Begun[] = [];
  const known = new Map<string, Begun>();
  let dropped = 0;
  let bytes = 0;
  const unreachable = new Set<string>();
  let lost: string | undefined;

  function fits(size: number): boolean {
    if (bytes + size > budget.bytes) return false;
    bytes += size;
    return true;
  }

  function begin([id = '', parent = '', word = '', at = '', name = '', ...facts]: readonly string[]): void {
    const kind = KINDS.get(word);
    if (!isId(id) || known.has(id) || kind === undefined || !isTime(at)) return;
    const above = known.get(parent);
    const step: Begun = {
      kind: kind.kind,
      key: kind.keyed ? id : undefined,
      name: shortText(name) || word,
      startedAt: at,
      depth: above === undefined ? 0 : above.depth + 1,
      parts: [],
      facts: factsOf(facts),
      ended: undefined,
    };
    // Once one had to be left out, all that follow are: the beginning is kept, without holes.
    const whole = dropped === 0 && known.size < budget.steps;
    const placed = (above !== undefined || parent === '-') && step.depth < DEEPEST;
    if (!whole || !placed || !fits(STEP_BYTES + jsonBytes([id, step.name, step.facts]))) {
      dropped += 1;
      return;
    }
    known.set(id, step);
    (above?.parts ?? top).push(step);
  }

  function end([id = '', at = '', result = '', ...fields]: readonly string[]): void {
    noteUnreachable(fields);
    const step = known.get(id);
    if (step === undefined || step.ended !== undefined || !isTime(at)) return;
    step.ended = { at, result: RESULTS.get(result) };
    const facts = factsOf(fields);
    if (fits(jsonBytes(facts))) step.facts = { ...step.facts, ...facts };
  }

  function noteUnreachable(fields: readonly string[]): void {
    if (!fields.includes('outcome=unreachable') || unreachable.size >= MOST_HOSTS) return;
    const host = fields.find(field => field.startsWith('host='));
    unreachable.add(shortText(host?.slice('host='.length) ?? ''));
  }

  return {
    line(text) {
      const [what, ...fields] = text.split('\t');
      if (what === 'begin') begin(fields);
      else if (what === 'end') end(fields);
      else if (what === 'lost' && fields[0] === TASK_RESULTS) lost ??= shortText(fields[1] ?? '');
    },
    end: at => ({
      steps: top.map(step => stepOf(step, at)),
      dropped,
      used: { steps: known.size, bytes },
      unreachable: [...unreachable],
      ...(lost === undefined ? {} : { lost }),
    }),
  };
}

function stepOf(begun: Begun, at: Nanoseconds): Step {
  const { kind, name, key, startedAt, parts, facts } = begun;
  // A step that had not ended when the playbook did was stopped with it.
  const ended = begun.ended ?? { at, result: 'ABORTED' as const };
  return {
    kind,
    subject: name,
    startedAt,
    endedAt: ended.at,
    ...(ended.result === undefined ? {} : { result: ended.result }),
    ...(key === undefined ? {} : { key }),
    ...(parts.length === 0 ? {} : { steps: parts.map(part => stepOf(part, at)) }),
    ...(Object.keys(facts).length === 0 ? {} : { facts }),
  };
}

function factsOf(fields: readonly string[]): NonNullable<Step['facts']> {
  const facts: Record<string, string | number | boolean> = {};
  for (const field of fields) {
    const [, name = '', value = ''] = /^([a-z_]{1,20})=(.{1,1000})$/u.exec(field) ?? [];
    if (TEXT_FACTS.has(name)) facts[name] = shortText(value);
    else if (name === 'changed' && (value === 'true' || value === 'false')) facts[name] = value === 'true';
    else if (name === 'exit_code' && /^\d{1,3}$/.test(value)) facts[name] = Number(value);
  }
  return facts;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function isId(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text);
}

/** From 2001 to 2286: what a clock could say. */
function isTime(text: string): text is Nanoseconds {
  return /^[1-9]\d{18}$/.test(text);
}

function shortText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
  const plain = stripUserinfo(text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')).trim();
  return [...plain].slice(0, LONGEST_NAME).join('');
}
