/** The configuration most stories share: Zuul's classic fixture, with proposals and approvals of the git driver. */
import {
  BASE_JOB,
  checkYaml,
  type GateYaml,
  gateYaml,
  NOTED,
  POST_YAML,
  QUEUE_YAML,
} from '../fake/layout-text.ts';

/** project-merge first, then project-test1 and project-test2; changes behind wait for project-merge of the ones ahead. */
function classicJobs({ holdFollowing = true }: { readonly holdFollowing?: boolean } = {}): string {
  return `
- job:
    name: project-merge
    hold-following-changes: ${holdFollowing}
- job:
    name: project-test1
    attempts: 4
- job:
    name: project-test2
- job:
    name: integration
    required-projects: [org/project1, org/project2]
`;
}

const LIST = `
        - project-merge
        - project-test1: {dependencies: [project-merge]}
        - project-test2: {dependencies: [project-merge]}`;

/** What a story can do without. */
interface Leaner {
  /** False: ends are not reported with notes. Each is a push of eight processes and a webhook, which most stories do not look at. */
  readonly notes?: boolean;
  /** False: jobs find their projects without files. Each checkout is a process, and the jobs of most stories read none. */
  readonly checkout?: boolean;
}

/** Notes the end of an item. A note of its start is one more push for each: stories about that ask for it, with {@link NOTED}. */
function quietGate(notes: boolean, gate?: GateYaml): string {
  const quiet = notes
    ? { notes: NOTED.filter(moment => moment !== 'start') }
    : { notes: [], success: '{merge: true}' };
  return gateYaml({ ...quiet, ...gate });
}

function baseJob(checkout: boolean): string {
  return checkout ? BASE_JOB : `${BASE_JOB}    workspace-checkout: false\n`;
}

function checkOf(notes: boolean): string {
  return checkYaml(notes ? {} : { notes: [] });
}

function classicProject(name: string, queue: string | null, pipelines: readonly string[], more = ''): string {
  const parts = pipelines.map(pipeline => `    ${pipeline}:\n      jobs:${LIST}${more}\n`);
  return `
- project:
    name: ${name}
${queue === null ? '' : `    queue: ${queue}\n`}${parts.join('')}`;
}

/** org/project alone in the gate, with one job. */
export const ONE_JOB = `${BASE_JOB}
- job: {name: test}
- project:
    name: org/project
    gate: {jobs: [test]}
`;

export interface ClassicOptions extends Leaner {
  readonly check?: boolean;
  readonly gate?: GateYaml;
  readonly holdFollowing?: boolean;
  /** Queue `integrated` takes changes that depend on each other. */
  readonly cycles?: boolean;
  /** Its changes of one topic are one item. */
  readonly byTopic?: boolean;
}

/** org/project on its own; org/project1 and org/project2 share queue `integrated` and an integration job. */
export function classicLayout(options: ClassicOptions = {}): string {
  const { check = false, gate, holdFollowing = true, cycles = false, byTopic = false } = options;
  const { notes = true, checkout = true } = options;
  const pipelines = check ? ['check', 'gate'] : ['gate'];
  const integration = '\n        - integration: {dependencies: [project-merge]}';
  return [
    check ? checkOf(notes) : '',
    quietGate(notes, gate),
    QUEUE_YAML,
    cycles || byTopic ? '    allow-circular-dependencies: true\n' : '',
    byTopic ? '    dependencies-by-topic: true\n' : '',
    baseJob(checkout),
    classicJobs({ holdFollowing }),
    classicProject('org/project', null, pipelines),
    classicProject('org/project1', 'integrated', pipelines, integration),
    classicProject('org/project2', 'integrated', pipelines, integration),
  ].join('');
}

/** Pipelines and the base job only; the story adds jobs and projects. */
export function layoutWith(
  text: string,
  options: Leaner & {
    readonly check?: boolean;
    readonly gate?: GateYaml | false;
    readonly post?: boolean;
  } = {},
): string {
  const { check = false, gate, post = false, notes = true, checkout = true } = options;
  return [
    check ? checkOf(notes) : '',
    gate === false ? '' : quietGate(notes, gate),
    post ? POST_YAML : '',
    baseJob(checkout),
    text,
  ].join('');
}
