/** The configuration most stories share: Zuul's classic fixture, with proposals and approvals of the git driver. */

const CHECK = `
- pipeline:
    name: check
    manager: independent
    trigger:
      local: [{event: proposed}]
    success:
      local: {note: true}
    failure:
      local: {note: true}
    merge-conflict:
      local: {note: true}
    config-error:
      local: {note: true}
`;

export interface GateOptions {
  /** More lines of the pipeline, e.g. `window: 2`. */
  readonly more?: readonly string[];
}

function gatePipeline({ more = [] }: GateOptions = {}): string {
  return `
- pipeline:
    name: gate
    manager: dependent
    precedence: high
${more.map(line => `    ${line}\n`).join('')}    require:
      local: {approved: true, open: true, current-patchset: true}
    trigger:
      local: [{event: approved}]
    start:
      local: {note: true}
    success:
      local: {merge: true, note: true}
    failure:
      local: {note: true}
    merge-conflict:
      local: {note: true}
    config-error:
      local: {note: true}
    no-jobs:
      local: {note: true}
`;
}

const POST = `
- pipeline:
    name: post
    manager: independent
    precedence: low
    post-review: true
    trigger:
      local: [{event: ref-updated}]
`;

export const BASE_JOB = `
- job:
    name: base
    abstract: true
    timeout: 300
    run: playbooks/job.sh
`;

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

function classicProject(name: string, queue: string | null, pipelines: readonly string[], more = ''): string {
  const parts = pipelines.map(pipeline => `    ${pipeline}:\n      jobs:${LIST}${more}\n`);
  return `
- project:
    name: ${name}
${queue === null ? '' : `    queue: ${queue}\n`}${parts.join('')}`;
}

export interface ClassicOptions {
  readonly check?: boolean;
  readonly gate?: GateOptions;
  readonly holdFollowing?: boolean;
}

/** org/project on its own; org/project1 and org/project2 share queue `integrated` and an integration job. */
export function classicLayout({ check = false, gate, holdFollowing = true }: ClassicOptions = {}): string {
  const pipelines = check ? ['check', 'gate'] : ['gate'];
  const integration = '\n        - integration: {dependencies: [project-merge]}';
  return [
    check ? CHECK : '',
    gatePipeline(gate),
    '\n- queue:\n    name: integrated\n',
    BASE_JOB,
    classicJobs({ holdFollowing }),
    classicProject('org/project', null, pipelines),
    classicProject('org/project1', 'integrated', pipelines, integration),
    classicProject('org/project2', 'integrated', pipelines, integration),
  ].join('');
}

/** Pipelines and the base job only; the story adds jobs and projects. */
export function layoutWith(
  text: string,
  options: { readonly check?: boolean; readonly gate?: GateOptions | false; readonly post?: boolean } = {},
): string {
  const { check = false, gate, post = false } = options;
  return [
    check ? CHECK : '',
    gate === false ? '' : gatePipeline(gate),
    post ? POST : '',
    BASE_JOB,
    text,
  ].join('');
}
