/** The tenant of every run: a shared queue of two projects, one project on its own, check, gate and post. */
import { parseTenantFile } from '../../src/layout/tenant/tenant-file.ts';
import type { Tenant } from '../../src/model/layout.ts';
import { BASE_JOB, checkYaml, gateYaml, POST_YAML, QUEUE_YAML } from '../fake/layout-text.ts';
import type { CodeHost } from './host/code-host.ts';
import { CONNECTION } from './host/host-git.ts';

export const TENANT = 'acme';
export const PROJECTS = ['org/app', 'org/lib', 'org/docs'] as const;

const pipelines = (
  gate: readonly string[],
) => `${checkYaml()}${gateYaml({ more: gate })}${POST_YAML}    success:
      local: {note: true}
${QUEUE_YAML}${BASE_JOB}
- job:
    name: unit
- job:
    name: integration
- job:
    name: publish
`;

/** Pipelines of some sites that take updates of refs one at a time. */
export const AFTER_LANDING = ['deploy', 'promote'] as const;
export type AfterLanding = (typeof AFTER_LANDING)[number];

const MANAGER: Readonly<Record<AfterLanding, string>> = { deploy: 'serial', promote: 'supercedent' };

function pipelineAfterLanding(name: AfterLanding): string {
  return `
- pipeline:
    name: ${name}
    manager: ${MANAGER[name]}
    precedence: low
    post-review: true
    trigger:
      local: [{event: ref-updated}]
    success:
      local: {note: true}
- job:
    name: ${name}-it
`;
}

function project(name: string, queue: boolean, more: readonly AfterLanding[]): string {
  const after = more.map(pipeline => `    ${pipeline}:\n      jobs: [${pipeline}-it]\n`).join('');
  return `
- project:
    name: ${name}
${queue ? '    queue: integrated\n' : ''}    check:
      jobs: [unit]
    gate:
      jobs: [unit, integration: {dependencies: [unit]}]
    post:
      jobs: [publish]
${after}`;
}

/** The config-project's file, with more lines. @param added beside check, gate and post. @param gate more lines of that pipeline. */
export function mainConfig(
  more = '',
  added: readonly AfterLanding[] = [],
  gate: readonly string[] = [],
): string {
  return [
    pipelines(gate),
    ...added.map(pipelineAfterLanding),
    project('org/app', true, added),
    project('org/lib', true, added),
    project('org/docs', false, added),
    more,
  ].join('');
}

/** A project's own file: one more job in the gate. */
export function ownConfig(job: string): string {
  return `
- job:
    name: ${job}
    attempts: 6
    run: playbooks/${job}.sh
- project:
    gate:
      jobs: [${job}]
`;
}

export function populate(host: CodeHost, added: readonly AfterLanding[], gate: readonly string[]): void {
  host.create(
    'org/config',
    new Map([
      ['zuul.yaml', mainConfig('', added, gate)],
      ['playbooks/job.sh', 'true'],
    ]),
  );
  for (const name of PROJECTS) host.create(name, new Map([['README', name]]));
}

export function tenants(): readonly Tenant[] {
  const parsed = parseTenantFile(
    `
- tenant:
    name: ${TENANT}
    source:
      ${CONNECTION}:
        config-projects: [org/config]
        untrusted-projects: [${PROJECTS.join(', ')}]
`,
    'main.yaml',
    new Map([[CONNECTION, CONNECTION]]),
  );
  if (parsed.kind === 'invalid') throw new Error(parsed.errors.map(error => error.text).join('\n'));
  return parsed.tenants;
}
