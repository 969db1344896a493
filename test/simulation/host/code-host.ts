/**
 * The code host: one repository of refs and notes per project. A push is all or nothing and only from where the pusher
 * thinks the refs are. It remembers every landing with who made it, which is what the checks go by.
 */
import type { ObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName, type RefName } from '../../../src/git/objects/ref-name.ts';
import type { RefChange } from '../../../src/git/remote/push.ts';
import { type Files, Objects } from './objects.ts';

/** A branch moved. */
export interface Landing {
  readonly at: number;
  readonly project: string;
  readonly branch: string;
  readonly from: ObjectId;
  readonly to: ObjectId;
  /** Process, or `developer`. */
  readonly by: string;
}

export interface NoteTaken {
  readonly at: number;
  readonly project: string;
  readonly commit: string;
  readonly text: string;
  readonly by: string;
}

export class SimRepository {
  readonly refs = new Map<RefName, ObjectId>();
  readonly notes = new Map<string, Set<string>>();
  /** All commits ever pushed: can be fetched while a ref leads to them. */
  readonly project: string;
  constructor(project: string) {
    this.project = project;
  }
}

export class CodeHost {
  readonly objects = new Objects();
  readonly repositories = new Map<string, SimRepository>();
  readonly landings: Landing[] = [];
  readonly notes: NoteTaken[] = [];
  /** Seconds between two polls of a process. */
  pollInterval = 60;
  /** Called with each push, to send webhooks. */
  onPush: (project: string) => void = () => {};
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  create(project: string, files: Files): void {
    const repository = new SimRepository(project);
    this.repositories.set(project, repository);
    repository.refs.set(
      parseRefName('refs/heads/master'),
      this.objects.commit(files, [], `Begin ${project}`),
    );
  }

  repository(project: string): SimRepository {
    const found = this.repositories.get(project);
    if (found === undefined) throw new Error(`there is no project ${project}`);
    return found;
  }

  tip(project: string, branch = 'master'): ObjectId {
    const tip = this.repository(project).refs.get(parseRefName(`refs/heads/${branch}`));
    if (tip === undefined) throw new Error(`${project} has no branch ${branch}`);
    return tip;
  }

  /** @returns the refs that were not where they should be; empty: done. */
  push(project: string, changes: readonly RefChange[], by: string): readonly RefName[] {
    const { refs } = this.repository(project);
    const stale = changes.filter(({ ref, from }) => (refs.get(ref) ?? null) !== from).map(({ ref }) => ref);
    if (stale.length > 0) return stale;
    for (const { ref, from, to } of changes) {
      if (to === null) refs.delete(ref);
      else refs.set(ref, to);
      const branch = ref.slice('refs/heads/'.length);
      if (from !== null && to !== null && !/^(for|gate)\//.test(branch))
        this.landings.push({ at: this.#now(), project, branch, from, to, by });
    }
    this.onPush(project);
    return [];
  }

  /** A paragraph that is there already is not added again. */
  note(project: string, commit: string, text: string, by: string): void {
    const { notes } = this.repository(project);
    const paragraphs = notes.get(commit) ?? new Set<string>();
    if (paragraphs.has(text)) return;
    notes.set(commit, paragraphs.add(text));
    this.notes.push({ at: this.#now(), project, commit, text, by });
  }
}
