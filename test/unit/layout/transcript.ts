/**
 * Layout transcripts: configuration, commands, and what people see, in one text.
 *
 *     # a sentence that names the case
 *     @ tenant main.yaml                the tenant file follows, in place of that of `fixture.ts`
 *     - tenant: …
 *     @ acme/app zuul.yaml              a file follows: project[@branch] path
 *     - job: …
 *     > errors                          a command; its output follows
 *     local/acme/app@master:zuul.yaml:…
 *     > freeze gate acme/app master docs/a.md
 *     tests runs: …
 *
 * Commands: `errors`; `freeze <pipeline> <project> <branch> <file>...` (a tag as `tag:v1`, files unknown as `?`);
 * `show <pipeline> <project> <branch> <job>`; `queue <pipeline> <project> <branch>`. Every case has the projects of
 * `fixture.ts` or of its tenant file, and the configuration of `fixture.ts`. `UPDATE_TRANSCRIPTS=1` rewrites the outputs: review the diff.
 */
import { buildLayout } from '../../../src/layout/build/build-layout.ts';
import { changeQueueOf } from '../../../src/layout/change-queue.ts';
import { freezeJobGraph } from '../../../src/layout/freeze/freeze-job-graph.ts';
import { layoutFacts } from '../../../src/layout/layout-facts.ts';
import type { FreezeChange } from '../../../src/layout/model/freeze-request.ts';
import type { Layout } from '../../../src/layout/model/layout.ts';
import { parseTenantFile } from '../../../src/layout/tenant/tenant-file.ts';
import { type ConfigError, configErrorText } from '../../../src/model/config-error.ts';
import type { FrozenJob, Playbook } from '../../../src/model/job.ts';
import type { Tenant } from '../../../src/model/layout.ts';
import { projectIdOf, projectKey } from '../../../src/model/project.ts';
import { APP, BASE, branchConfig, CONFIG, LIB, layoutInput, TENANT } from './fixture.ts';

export interface TranscriptCase {
  readonly title: string;
  readonly files: readonly { readonly header: string; readonly text: string }[];
  readonly commands: readonly { readonly command: string; readonly output: string }[];
}

export function parseTranscript(text: string): readonly TranscriptCase[] {
  return text
    .split(/^# /m)
    .slice(1)
    .map(part => {
      const [head = '', ...commands] = part.split(/^> /m);
      const [title = '', ...files] = head.split(/^@ /m);
      const halves = (block: string) => {
        const end = block.indexOf('\n');
        return [block.slice(0, end), block.slice(end + 1)] as const;
      };
      return {
        title: title.trim(),
        files: files.map(halves).map(([header, body]) => ({ header, text: body })),
        commands: commands.map(halves).map(([command, output]) => ({ command, output: output.trimEnd() })),
      };
    });
}

export function printTranscript(cases: readonly TranscriptCase[]): string {
  return cases
    .map(({ title, files, commands }) => {
      const texts = files.map(({ header, text }) => `@ ${header}\n${text.trimEnd()}\n`);
      const outputs = commands.map(
        ({ command, output }) => `> ${command}\n${output === '' ? '' : `${output}\n`}`,
      );
      return `# ${title}\n${texts.join('')}${outputs.join('')}`;
    })
    .join('\n');
}

/** The case with the outputs that the code gives now. */
export function replay(given: TranscriptCase): TranscriptCase {
  const tenant = tenantFrom(given);
  const layout = tenant.kind === 'invalid' ? tenant : layoutFrom(given, tenant.tenant);
  return {
    ...given,
    commands: given.commands.map(({ command }) => ({ command, output: run(command, layout) })),
  };
}

type Refused = { readonly kind: 'invalid'; readonly errors: readonly ConfigError[] };

/** Of a file with the versions of Ansible that the site has, in one line. */
const SITE_ANSIBLE = 'site ansible';

function tenantFrom({
  files,
}: TranscriptCase): Refused | { readonly kind: 'tenant'; readonly tenant: Tenant } {
  const file = files.find(({ header }) => header.startsWith('tenant '));
  const installed = files.find(({ header }) => header === SITE_ANSIBLE)?.text.trim();
  const ansible = installed === undefined ? undefined : { versions: installed.split(' ') };
  if (file === undefined)
    return { kind: 'tenant', tenant: { ...TENANT, ...(ansible === undefined ? {} : { ansible }) } };
  const hosts = new Map(Object.entries(TENANT.hosts ?? {}));
  const parsed = parseTenantFile(file.text, file.header.slice('tenant '.length), hosts, ansible);
  if (parsed.kind === 'invalid') return parsed;
  const [tenant, other] = parsed.tenants;
  if (tenant === undefined || other !== undefined) throw new Error('the tenant file must have one tenant');
  return { kind: 'tenant', tenant };
}

function layoutFrom({ files }: TranscriptCase, tenant: Tenant): Layout {
  const branches = new Map<string, { [path: string]: string }>([
    [`${projectIdOf(CONFIG).name}@master`, { 'zuul.d/00-base.yaml': BASE }],
    [`${projectIdOf(APP).name}@master`, {}],
    [`${projectIdOf(LIB).name}@master`, {}],
  ]);
  for (const { header, text } of files) {
    const [place = '', path = ''] = header.split(' ');
    if (place === 'tenant' || header === SITE_ANSIBLE) continue;
    const key = place.includes('@') ? place : `${place}@master`;
    branches.set(key, { ...branches.get(key), [path]: text });
  }
  const configs = [...branches].map(([key, texts]) => {
    const [name = '', branch = ''] = key.split('@');
    return branchConfig(projectKey({ connection: 'local', name }), texts, branch);
  });
  return buildLayout(layoutInput(configs, tenant));
}

function run(command: string, layout: Layout | Refused): string {
  if ('kind' in layout) {
    if (command !== 'errors')
      throw new Error(`the tenant file is refused, so "${command}" cannot be answered`);
    return layout.errors.map(configErrorText).join('\n');
  }
  const [verb, pipeline = '', project = '', branch = '', ...rest] = command.split(' ');
  const change = changeOf(project, branch, rest);
  switch (verb) {
    case 'errors':
      return layout.errors.map(configErrorText).join('\n');
    case 'freeze':
      return freeze(layout, pipeline, change);
    case 'show':
      return show(layout, pipeline, changeOf(project, branch, ['?']), rest[0] ?? '');
    case 'queue':
      return JSON.stringify(changeQueueOf(layoutFacts(layout), pipeline, change.project, change.branch));
    default:
      throw new Error(`unknown command ${command}`);
  }
}

function changeOf(name: string, branch: string, files: readonly string[]): FreezeChange {
  const tag = branch.startsWith('tag:') ? branch.slice(4) : undefined;
  return {
    project: projectKey({ connection: 'local', name }),
    branch: tag === undefined ? branch : null,
    ...(tag === undefined ? {} : { ref: `refs/tags/${tag}` }),
    files: files.includes('?') ? null : files,
  };
}

function freeze(layout: Layout, pipeline: string, change: FreezeChange): string {
  const outcome = freezeJobGraph({ layout, pipeline, change });
  switch (outcome.kind) {
    case 'not-in-pipeline':
      return 'not in pipeline';
    case 'misconfigured':
      return outcome.errors.map(error => `misconfigured: ${configErrorText(error)}`).join('\n');
    case 'frozen':
      return outcome.verdicts
        .map(verdict => {
          if (verdict.kind === 'does-not-run') return `${verdict.name} does not run: ${verdict.because}`;
          const needs = verdict.job.dependencies
            .map(({ name, soft }) => (soft ? `${name}?` : name))
            .join(', ');
          return `${verdict.job.name} runs${needs === '' ? '' : ` after ${needs}`}: ${verdict.because}`;
        })
        .join('\n');
  }
}

function show(layout: Layout, pipeline: string, change: FreezeChange, name: string): string {
  const outcome = freezeJobGraph({ layout, pipeline, change });
  if (outcome.kind !== 'frozen') return freeze(layout, pipeline, change);
  const job = outcome.jobs.find(candidate => candidate.name === name);
  return job === undefined ? 'does not run' : jobLines(job).join('\n');
}

function jobLines(job: FrozenJob): readonly string[] {
  const plain = Object.entries(job).map(([key, value]) => {
    const playbooks = key === 'preRun' || key === 'run' || key === 'postRun';
    return `  ${key}: ${playbooks ? (value as readonly Playbook[]).map(playbook).join(' ') : JSON.stringify(value)}`;
  });
  const defaults = /: (\[\]|\{\}|false|)$|attempts: 3$|voting: true$/;
  return plain.filter(line => !defaults.test(line));
}

/** With `!` where it is trusted, its cleanup, and the places of its roles. */
function playbook({ project, branch, path, trusted, cleanup, roles }: Playbook): string {
  const cleans = cleanup === undefined ? '' : `(${cleanup} cleanup)`;
  const places = roles === undefined ? '' : `(roles ${roles.join(',')})`;
  return `${projectIdOf(project).name}@${branch}:${path}${trusted ? '!' : ''}${cleans}${places}`;
}
