/** What `job-output.json` of a build says: the roles whose tasks ran, and the task that failed. */
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { openKept, readKeptFiles } from '../../../src/executor/log-store/kept-files.ts';

interface HostResult {
  readonly failed?: boolean;
  readonly unreachable?: boolean;
  readonly skipped?: boolean;
  readonly msg?: unknown;
  readonly stderr?: unknown;
}

interface Task {
  readonly task: { readonly name: string };
  readonly role?: { readonly name: string };
  readonly hosts: { readonly [host: string]: HostResult };
}

type Playbooks = readonly { readonly plays: readonly { readonly tasks: readonly Task[] }[] }[];

export interface BuildOutput {
  /** Of which at least one task ran. */
  readonly roles: ReadonlySet<string>;
  /** One line; undefined: no task failed. */
  readonly failure: string | undefined;
}

export async function readOutput(logDir: string, build: string): Promise<BuildOutput> {
  const tasks = (await playbooksOf(logDir, build)).flatMap(({ plays }) => plays.flatMap(play => play.tasks));
  const ran = tasks.filter(({ hosts }) => Object.values(hosts).some(({ skipped }) => skipped !== true));
  return { roles: new Set(ran.flatMap(({ role }) => role?.name ?? [])), failure: failureOf(tasks) };
}

async function playbooksOf(logDir: string, build: string): Promise<Playbooks> {
  const kept = (await readKeptFiles(logDir, build))?.files.find(({ path }) => path === 'job-output.json');
  const content = kept === undefined ? undefined : await openKept(logDir, build, kept.sha256);
  return content === undefined ? [] : JSON.parse(await text(content.pipe(createGunzip())));
}

/** The last one: those before were rescued or ignored. */
function failureOf(tasks: readonly Task[]): string | undefined {
  for (const { task, role, hosts } of tasks.toReversed()) {
    const result = Object.values(hosts).find(
      ({ failed, unreachable }) => failed === true || unreachable === true,
    );
    if (result === undefined) continue;
    const { stderr = '', msg = '' } = result;
    const said = [msg, stderr].map(each => (typeof each === 'string' ? each : JSON.stringify(each)));
    const text = said.join(' ').replace(/\s+/g, ' ').trim().slice(0, 240);
    return [role?.name, task.name, text].filter(Boolean).join(': ');
  }
  return undefined;
}
