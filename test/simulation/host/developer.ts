/**
 * What people do at the code host. A change is made of files; `fails` names jobs that fail wherever the change is in the
 * tree, alone (`unit`) or together with another change that says the same word (`unit+word`), and `flaky` those whose first run to end
 * for that change fails. `pauses` names jobs that wait, between run and post-run, for those that depend on them.
 *
 *     developer.propose('org/app', 'login', { files: { 'login.txt': 'v1' } });
 *     developer.approve('org/app', 'login');
 */
import type { ObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName, type RefName } from '../../../src/git/objects/ref-name.ts';
import type { CodeHost } from './code-host.ts';

export interface Proposed {
  readonly files?: { readonly [path: string]: string };
  /** Jobs that fail with it. */
  readonly fails?: readonly string[];
  readonly flaky?: readonly string[];
  readonly pauses?: readonly string[];
  /** `org/lib/topic`: written as `Depends-On`. */
  readonly dependsOn?: readonly string[];
  /** Built on that proposal of the same project. */
  readonly onTopOf?: string;
}

const PROPOSAL = (topic: string): RefName => parseRefName(`refs/heads/for/master/${topic}`);
const APPROVAL = (topic: string): RefName => parseRefName(`refs/heads/gate/master/${topic}`);

export class Developer {
  readonly #host: CodeHost;
  #revision = 0;

  constructor(host: CodeHost) {
    this.#host = host;
  }

  /** A new proposal, or a new patchset of it. */
  propose(project: string, topic: string, change: Proposed = {}): ObjectId {
    const { objects } = this.#host;
    const { refs } = this.#host.repository(project);
    const revision = ++this.#revision;
    const below = change.onTopOf === undefined ? undefined : refs.get(PROPOSAL(change.onTopOf));
    const parent = below ?? this.#host.tip(project);
    const files = new Map(objects.get(parent).files);
    files.set(`${topic}.txt`, `revision ${revision}`);
    for (const [path, text] of Object.entries(change.files ?? {})) files.set(path, text);
    for (const kind of ['fails', 'flaky', 'pauses'] as const) {
      files.delete(`${topic}.${kind}`);
      const jobs = change[kind];
      if (jobs !== undefined) files.set(`${topic}.${kind}`, jobs.join(' '));
    }
    const lines = (change.dependsOn ?? []).map(other => {
      const at = other.lastIndexOf('/');
      return `Depends-On: ${other.slice(0, at)}@master/${other.slice(at + 1)}`;
    });
    const message = [`Change ${topic} of ${project}, revision ${revision}`, '', ...lines, ''].join('\n');
    const commit = objects.commit(files, [parent], message);
    const ref = PROPOSAL(topic);
    this.#host.push(project, [{ ref, from: refs.get(ref) ?? null, to: commit, force: true }], 'developer');
    return commit;
  }

  approve(project: string, topic: string): void {
    const { refs } = this.#host.repository(project);
    const commit = refs.get(PROPOSAL(topic));
    if (commit === undefined) return;
    const ref = APPROVAL(topic);
    this.#host.push(project, [{ ref, from: refs.get(ref) ?? null, to: commit, force: true }], 'developer');
  }

  withdrawApproval(project: string, topic: string): void {
    this.#delete(project, APPROVAL(topic));
  }

  abandon(project: string, topic: string): void {
    this.#delete(project, PROPOSAL(topic));
  }

  /** Past the gate. */
  pushDirectly(project: string, files: { readonly [path: string]: string }): void {
    const { objects } = this.#host;
    const tip = this.#host.tip(project);
    const all = new Map([...objects.get(tip).files, ...Object.entries(files)]);
    const commit = objects.commit(all, [tip], `Pushed past the gate ${++this.#revision}`);
    this.#host.push(
      project,
      [{ ref: parseRefName('refs/heads/master'), from: tip, to: commit }],
      'developer',
    );
  }

  #delete(project: string, ref: RefName): void {
    const from = this.#host.repository(project).refs.get(ref);
    if (from !== undefined) this.#host.push(project, [{ ref, from, to: null }], 'developer');
  }
}

/** Whether a file for that topic names the job so. */
export function isNamed(
  files: ReadonlyMap<string, string>,
  topic: string,
  kind: 'flaky' | 'pauses',
  job: string,
): boolean {
  return [...files].some(
    ([path, text]) => path.endsWith(`/${topic}.${kind}`) && text.split(' ').includes(job),
  );
}

/** Whether a job fails on these files. `unit+word` fails where two files say the same. */
export function jobFails(files: ReadonlyMap<string, string>, job: string): boolean {
  const words = [...files].filter(([path]) => path.endsWith('.fails')).flatMap(([, text]) => text.split(' '));
  return (
    words.includes(job) ||
    words.some((word, index) => word.startsWith(`${job}+`) && words.indexOf(word) !== index)
  );
}
