/**
 * The pipelines that tests configure, as text of a zuul.yaml: one check, one gate, one post, one base job. A test says only how its
 * own layout differs.
 *
 *     `${checkYaml()}${gateYaml({ more: ['window: 2'] })}${BASE_JOB}`
 */

interface Common {
  /** Connections that it has triggers, requirements and reporters for; default `local`. */
  readonly connections?: readonly string[];
}

export interface GateYaml extends Common {
  /** Default dependent. */
  readonly manager?: string;
  /** Default high. */
  readonly precedence?: string;
  /** More lines of the pipeline, e.g. `window: 2`. */
  readonly more?: readonly string[];
  /** Default: approved, open, and the current patchset. Null: nothing is required. */
  readonly require?: string | null;
  /** Default: an approval. */
  readonly trigger?: string;
  /** Options of the reporter of a success; default: it merges and writes a note. */
  readonly success?: string;
  /** Other moments that are reported with a note; default all of {@link NOTED}. */
  readonly notes?: readonly string[];
}

/** Moments, besides a success. */
export const NOTED: readonly string[] = ['start', 'failure', 'merge-conflict', 'config-error', 'no-jobs'];
const NOTE = '{note: true}';

/** An entry with the same value for each connection. */
function entry(key: string, value: string, connections: readonly string[]): string {
  return `    ${key}:\n${connections.map(name => `      ${name}: ${value}\n`).join('')}`;
}

interface CheckYaml extends Common {
  /** Moments that are reported with a note; default all. */
  readonly notes?: readonly string[];
}

const CHECK_NOTED: readonly string[] = ['success', 'failure', 'merge-conflict', 'config-error'];

export function checkYaml({ connections = ['local'], notes = CHECK_NOTED }: CheckYaml = {}): string {
  return [
    '\n- pipeline:\n    name: check\n    manager: independent\n',
    entry('trigger', '[{event: proposed}]', connections),
    ...notes.map(moment => entry(moment, NOTE, connections)),
  ].join('');
}

export function gateYaml({
  connections = ['local'],
  manager = 'dependent',
  precedence = 'high',
  more = [],
  require = '{approved: true, open: true, current-patchset: true}',
  trigger = '[{event: approved}]',
  success = '{merge: true, note: true}',
  notes = NOTED,
}: GateYaml = {}): string {
  return [
    `\n- pipeline:\n    name: gate\n    manager: ${manager}\n    precedence: ${precedence}\n`,
    ...more.map(line => `    ${line}\n`),
    require === null ? '' : entry('require', require, connections),
    entry('trigger', trigger, connections),
    entry('success', success, connections),
    ...notes.map(moment => entry(moment, NOTE, connections)),
  ].join('');
}

export const POST_YAML = `
- pipeline:
    name: post
    manager: independent
    precedence: low
    post-review: true
    trigger:
      local: [{event: ref-updated}]
`;

export const QUEUE_YAML = `
- queue:
    name: integrated
`;

export const BASE_JOB = `
- job:
    name: base
    abstract: true
    timeout: 300
    run: playbooks/job.sh
`;
