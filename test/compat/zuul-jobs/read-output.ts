/** What `job-output.json` of a build says: how many tasks of which roles did something, and the task that failed. */
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { openKept, readKeptFiles } from '../../../src/executor/log-store/kept-files.ts';

interface HostResult {
  readonly action?: string;
  readonly failed?: boolean;
  readonly unreachable?: boolean;
  readonly skipped?: boolean;
  readonly msg?: unknown;
  readonly stderr?: unknown;
  readonly module_stderr?: unknown;
}

interface Task {
  readonly task: { readonly name: string };
  readonly role?: { readonly name: string };
  readonly hosts: { readonly [host: string]: HostResult };
}

type Playbooks = readonly { readonly plays: readonly { readonly tasks: readonly Task[] }[] }[];

export interface BuildOutput {
  /** By role: its tasks that ran on some host. Those that only include others do not count. */
  readonly tasks: ReadonlyMap<string, number>;
  /** One line; undefined: no task failed. */
  readonly failure: string | undefined;
}

export async function readOutput(logDir: string, build: string): Promise<BuildOutput> {
  const all = (await playbooksOf(logDir, build)).flatMap(({ plays }) => plays.flatMap(play => play.tasks));
  const tasks = new Map<string, number>();
  for (const { role, hosts } of all)
    if (role !== undefined && Object.values(hosts).some(hasWorked))
      tasks.set(role.name, (tasks.get(role.name) ?? 0) + 1);
  return { tasks, failure: failureOf(all) };
}

function hasWorked({ action = '', skipped, failed }: HostResult): boolean {
  return skipped !== true && failed !== true && !/(^|\.)(include|import)_/.test(action);
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
    const { stderr = '', msg = '', module_stderr: module = '' } = result;
    const said = [module, msg, stderr].map(each => (typeof each === 'string' ? each : JSON.stringify(each)));
    const text = said.join(' ').replace(/\s+/g, ' ').trim().slice(0, 240);
    return [role?.name, task.name, text].filter(Boolean).join(': ');
  }
  return undefined;
}
