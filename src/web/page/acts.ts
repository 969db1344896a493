/** What who is signed in may do to items and pipelines, hosts aside (hold-acts.ts): one table for the buttons, the requests and the words. */
import type { LiveItem } from '../../api/live-item.ts';
import type { LivePipeline } from '../../api/live-view.ts';
import { itemTitle } from './format.ts';

/** A line that the person fills in. */
export interface ActField {
  readonly name: string;
  readonly label: string;
  /** Choices by value; absent: free text. */
  readonly choices?: readonly (readonly [value: string, text: string])[];
  readonly placeholder?: string;
  readonly longest?: number;
  /** What is there at first; absent: nothing. */
  readonly preset?: string;
  /** May stay empty. */
  readonly optional?: boolean;
}

/** What the person filled in, by name of the field. */
export type Filled = { readonly [field: string]: string };

/** One button. */
export interface Act {
  /** On the button: a verb. */
  readonly verb: string;
  /** What it is done to. */
  readonly subject: string;
  readonly fields: readonly ActField[];
  /** Default `POST`. */
  readonly method?: 'DELETE';
  /** The path is below the API itself: it concerns all tenants. */
  readonly isOfAll?: boolean;
  /** Path below the tenant, encoded. */
  readonly path: (filled: Filled) => string;
  readonly body: (filled: Filled) => object;
  /** What it does, a sentence. Absent: the service is asked what it costs. */
  readonly effect?: string;
  /** When the service has taken it. */
  readonly done: string;
}

/** As {@link LONGEST_REASON} of src/model/halt.ts has it. */
const LONGEST_REASON = 300;

/** @param manager of its pipeline. */
export function itemActs(item: LiveItem, manager: string | undefined): readonly Act[] {
  if (item.role !== 'live') return [];
  const subject = itemTitle(item);
  const again: Act = {
    ...{ verb: 'Run failed jobs again', subject, fields: [] },
    path: () => `item/${item.uuid}/rerun`,
    body: () => ({}),
    done: 'Its failed jobs run again shortly.',
  };
  if (item.left !== null)
    return item.left.result === 'SUCCESS'
      ? []
      : [{ ...again, verb: 'Enqueue again', done: 'Its change enters again shortly, if it may.' }];
  const acts = [dequeue(item, subject)];
  if (manager === 'dependent') acts.push(promote(item, subject));
  return item.failing.length > 0 ? [...acts, again] : acts;
}

function dequeue(item: LiveItem, subject: string): Act {
  const [change] = item.changes;
  return {
    ...{ verb: 'Dequeue', subject, fields: [] },
    path: () => `project/${encodedProject(change?.project ?? '')}/dequeue`,
    body: () => ({ pipeline: item.pipeline, change: nameOf(item) }),
    done: 'It leaves shortly.',
  };
}

function promote(item: LiveItem, subject: string): Act {
  const [change] = item.changes;
  return {
    ...{ verb: 'Promote', subject, fields: [] },
    path: () => 'promote',
    body: () => ({ pipeline: item.pipeline, changes: [`${change?.project} ${nameOf(item)}`] }),
    done: 'It goes to the head of its queue shortly.',
  };
}

/** As the API takes it: a change by its id, the update of a ref by its commit. */
function nameOf(item: LiveItem): string {
  const [change] = item.changes;
  const { name = '', id = '' } = change ?? {};
  const commit = id.startsWith(`${name}@`) ? id.slice(name.length + 1) : '';
  return /^[0-9a-f]+$/.test(commit) ? commit : name;
}

/** Of a pipeline, and of what halts it. */
export function pipelineActs(pipeline: LivePipeline): readonly Act[] {
  const halts = pipeline.halts ?? [];
  return [
    enqueue(pipeline.name),
    halt(pipeline, 'Pause', 'paused', 'It starts no jobs from now on.'),
    halt(pipeline, 'Drain', 'draining', 'It takes no changes from now on.'),
    ...halts.map(each => resume(pipeline.name, each.queue)),
  ];
}

function enqueue(pipeline: string): Act {
  return {
    ...{ verb: 'Enqueue', subject: `a change into ${pipeline}` },
    fields: [
      { name: 'project', label: 'Project', placeholder: 'acme/app' },
      { name: 'change', label: 'Change, or ref', placeholder: 'master/login, 12 or refs/heads/master' },
    ],
    path: ({ project = '' }) => `project/${encodedProject(project)}/enqueue`,
    body: ({ change = '' }) => ({ pipeline, ...(change.startsWith('refs/') ? { ref: change } : { change }) }),
    done: 'It enters shortly, if it may.',
  };
}

function halt({ name, queues }: LivePipeline, verb: string, state: string, done: string): Act {
  const choices = [
    ['', 'the whole pipeline'] as const,
    ...queues.map(queue => [queue.name, `queue ${queue.name}`] as const),
  ];
  const reason = { name: 'reason', label: 'Reason, for all to read', longest: LONGEST_REASON };
  return {
    ...{ verb, subject: `pipeline ${name}`, done },
    fields: [reason, ...(queues.length > 1 ? [{ name: 'queue', label: 'What', choices }] : [])],
    path: () => statePath(name),
    body: ({ reason: why = '', queue = '' }) => ({ state, reason: why, ...(queue === '' ? {} : { queue }) }),
  };
}

function resume(pipeline: string, queue: string | null): Act {
  return {
    ...{ verb: 'Resume', subject: queue === null ? `pipeline ${pipeline}` : `queue ${queue} of ${pipeline}` },
    fields: [],
    path: () => statePath(pipeline),
    body: () => ({ state: 'normal', ...(queue === null ? {} : { queue }) }),
    done: 'It goes on shortly.',
  };
}

function statePath(pipeline: string): string {
  return `pipeline/${encodeURIComponent(pipeline)}/state`;
}

/** Each part of a project's name. */
export function encodedProject(project: string): string {
  return project.split('/').map(encodeURIComponent).join('/');
}
