/**
 * Checkouts that stay from build to build, so that a workspace costs only what changed since the last one.
 *
 *     <job_dir>/.kept/<slot>/<key>/tree     the work tree, with `.git`
 *     <job_dir>/.kept/<slot>/<key>/state    the known state of `tree`; absent while it is being changed
 *
 * A kept checkout belongs to one slot, and a slot runs one build at a time, so no job sees it while it is updated. Jobs never
 * write it: they get an overlay above it (`sandbox/stage.ts`), or see it read-only. A checkout that cannot be trusted (no state:
 * the executor was killed meanwhile; git refuses) is deleted and made again.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../lib/ids.ts';
import type { ProjectKey } from '../model/project.ts';
import { makeDirectory } from './build-places.ts';
import { type Checkout, makeCheckout, moveCheckout, pointAt } from './checkout.ts';
import { type OwnProcesses, WorkspaceFailure } from './git-process.ts';
import type { Owner } from './sandbox/stage.ts';
import { commitFacts, type TimeStep } from './time-step.ts';

interface KeptRequest extends Omit<Checkout, 'tree'> {
  readonly project: ProjectKey;
  readonly canonicalName: string;
  /** Workspaces and playbooks are at different commits of one project. */
  readonly use: 'workspace' | `playbooks-${number}`;
  /** Bytes of the tree on disk. */
  readonly bytes: number;
  readonly taken: TakenCheckouts;
}

/** What one build has of the kept checkouts: bytes by folder. `provide` adds to it, and removes nothing that is in it. */
export type TakenCheckouts = Map<string, number>;

/** The kept checkouts of all slots of one executor. */
export interface KeptCheckouts {
  /** @returns the tree at the wanted commit. @throws WorkspaceFailure */
  provide(slot: number, owner: Owner | null, request: KeptRequest, time: TimeStep): Promise<string>;
}

/** Per slot; the least recently used is removed. A build may have more. */
const MAX_KEPT = 24;

/** @param maxBytes of all kept checkouts per slot; at least what one build may check out. */
export function createKeptCheckouts(root: string, own: OwnProcesses, maxBytes: number): KeptCheckouts {
  return new Shelves(root, own, maxBytes);
}

class Shelves implements KeptCheckouts {
  readonly #root: string;
  readonly #own: OwnProcesses;
  readonly #maxBytes: number;
  /** Under way, by folder. */
  readonly #removals = new Map<string, Promise<void>>();

  constructor(root: string, own: OwnProcesses, maxBytes: number) {
    this.#root = root;
    this.#own = own;
    this.#maxBytes = maxBytes;
  }

  async provide(slot: number, owner: Owner | null, request: KeptRequest, time: TimeStep): Promise<string> {
    const shelf = join(this.#root, String(slot));
    const folder = join(shelf, keyOf(request));
    const checkout: Checkout = { ...request, tree: join(folder, 'tree') };
    const stateFile = join(folder, 'state');
    const fixed = fixedFacts(request, owner);
    // Before it is looked at: another checkout of the build may make room meanwhile.
    request.taken.set(folder, request.bytes);
    await this.#removals.get(folder);
    const found = parseState(readOrEmpty(stateFile));
    if (found?.commit === request.commit && found.fixed === fixed) {
      const now = new Date();
      await time(
        'BuildCheckout',
        async () => utimesSync(stateFile, now, now),
        () => ({ facts: { ...commitFacts(checkout), cached: true } }),
      );
      return checkout.tree;
    }
    rmSync(stateFile, { force: true });
    await this.#makeRoom(shelf, request.taken);
    const usable = found !== undefined && found.fixed === fixed;
    if (!usable || !(await this.#advance(checkout, found.commit, owner, time)))
      await this.#make(folder, checkout, owner, time);
    writeFileSync(stateFile, `${request.commit} ${fixed} ${request.bytes}`);
    return checkout.tree;
  }

  async #make(folder: string, checkout: Checkout, owner: Owner | null, time: TimeStep): Promise<void> {
    await rm(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o711, recursive: true });
    makeDirectory(checkout.tree, 0o755, owner);
    await makeCheckout(this.#own, checkout, owner, time);
  }

  /** Updates a clean checkout to another commit. @returns false when git does not find it clean. */
  async #advance(checkout: Checkout, from: string, owner: Owner | null, time: TimeStep): Promise<boolean> {
    const move = () => moveCheckout(this.#own, checkout, from, owner);
    try {
      if (from !== checkout.commit)
        await time('BuildCheckout', move, () => ({ facts: { ...commitFacts(checkout), cached: false } }));
    } catch (error) {
      if (error instanceof WorkspaceFailure) return false;
      throw error;
    }
    await pointAt(checkout, owner, time);
    return true;
  }

  /** Before a checkout grows, not after it: removes the least recently used until the rest leaves room for it. */
  async #makeRoom(shelf: string, taken: TakenCheckouts): Promise<void> {
    const names = namesIn(shelf);
    const folders = names.map(key => join(shelf, key)).filter(each => !taken.has(each));
    const others = folders.map(keptIn).toSorted((a, b) => b.usedAt - a.usedAt);
    let left = [...taken.values()].reduce((room, bytes) => room - bytes, this.#maxBytes);
    for (const [index, other] of others.entries()) {
      left -= other.bytes;
      if (left >= 0 && index < MAX_KEPT - taken.size) continue;
      if (!taken.has(other.folder)) await this.#remove(other.folder);
    }
  }

  #remove(folder: string): Promise<void> {
    const removal =
      this.#removals.get(folder) ??
      rm(folder, { recursive: true, force: true }).finally(() => this.#removals.delete(folder));
    this.#removals.set(folder, removal);
    return removal;
  }
}

function keyOf({ project, canonicalName, use, branch }: KeptRequest): string {
  return sha256([project, canonicalName, use, branch ?? ''].join('\0')).slice(0, 24);
}

interface Kept {
  readonly folder: string;
  /** Infinite when unknown: the executor was killed while it changed. */
  readonly bytes: number;
  readonly usedAt: number;
}

function keptIn(folder: string): Kept {
  const state = join(folder, 'state');
  const bytes = parseState(readOrEmpty(state))?.bytes ?? Number.POSITIVE_INFINITY;
  return { folder, bytes, usedAt: absentAs(0, () => statSync(state).mtimeMs) };
}

function namesIn(shelf: string): readonly string[] {
  return absentAs<readonly string[]>([], () => readdirSync(shelf));
}

/** Facts that must not change while a checkout is kept. */
function fixedFacts(request: KeptRequest, owner: Owner | null): string {
  return sha256([request.gitDir, request.alternates ?? '', String(owner?.uid ?? '')].join('\0'));
}

interface KeptState {
  readonly commit: string;
  readonly fixed: string;
  readonly bytes: number;
}

function parseState(text: string): KeptState | undefined {
  const [, commit, fixed, bytes] = /^([0-9a-f]{40,64}) ([0-9a-f]{64}) (\d+)$/.exec(text) ?? [];
  return commit === undefined || fixed === undefined ? undefined : { commit, fixed, bytes: Number(bytes) };
}

function readOrEmpty(path: string): string {
  return absentAs('', () => readFileSync(path, 'utf8'));
}

function absentAs<T>(fallback: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return fallback;
    throw error;
  }
}
