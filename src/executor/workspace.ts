/**
 * Prepares what a build finds when its first playbook starts: each project at its commit below `work/src`, and the projects of
 * its playbooks and their roles where the job cannot change them.
 *
 *     projects   ──► cache ──► kept checkout + overlay   (sandbox with overlays)
 *                         └──► fresh checkout             (otherwise)
 *     playbooks  ──► cache ──► kept checkout, read-only   or fresh checkout, read-only
 */
import { lstatSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { inParallel } from '../lib/parallel.ts';
import type { BuildPlaybook, BuildProject, BuildRequest } from '../model/build-request.ts';
import { type BuildPlaces, makeDirectory } from './build-places.ts';
import type { BuildSteps } from './build-steps.ts';
import { makeCheckout } from './checkout.ts';
import { type CheckoutRoom, createCheckoutRoom } from './checkout-room.ts';
import type { Repositories } from './deps.ts';
import { type OwnProcesses, WorkspaceFailure } from './git-process.ts';
import { giveToService } from './give-to-service.ts';
import type { KeptCheckouts, TakenCheckouts } from './kept-checkout.ts';
import type { JobView, Sandbox } from './sandbox/sandbox.ts';
import type { Overlay, Owner } from './sandbox/stage.ts';
import { type TimeStep, timeStepsOf } from './time-step.ts';

/** What every start of a playbook of the build needs to mount its checkouts. */
export interface Workspace {
  readonly overlays: readonly Overlay[];
  /** Host path and path in the sandbox of trees and objects the job may read; empty without a sandbox. */
  readonly readOnly: readonly { readonly from: string; readonly to: string }[];
  /** Of its projects: the checkout, and the repository whose objects it uses; null: it has its own. Host paths. */
  readonly repositories: readonly { readonly tree: string; readonly gitDir: string | null }[];
  /** Where the project of a playbook or of roles is: on the host, to read it, and as the job sees it. */
  treeOf(source: TreeSource): { readonly host: string; readonly job: string };
}

/** A playbook, or roles. */
type TreeSource = Pick<BuildPlaybook, 'canonicalName' | 'commit'>;

/** Of one executor: all its builds share them. */
export interface WorkspaceDeps {
  /** Bytes that the checkouts of one build may take; null: no limit. */
  readonly checkoutBytes: number | null;
  readonly repositories: Repositories;
  readonly sandbox: Sandbox;
  readonly own: OwnProcesses;
  readonly kept: KeptCheckouts;
}

/** Checkouts made at the same time. */
const PARALLEL = 4;

type Source = Pick<BuildProject, 'project' | 'canonicalName' | 'branch' | 'commit'>;

interface PlacedTree {
  /** Host path of the checkout. */
  readonly host: string;
  readonly job: string;
  readonly overlay: Overlay | null;
  readonly binds: Workspace['readOnly'];
}

/**
 * @param steps records the work, repository by repository.
 * @throws WorkspaceFailure when a commit cannot be obtained or checked out, CheckoutTooLarge.
 */
export async function prepareWorkspace(
  deps: WorkspaceDeps,
  request: BuildRequest,
  places: BuildPlaces,
  slot: number,
  steps: BuildSteps,
): Promise<Workspace> {
  const names = request.projects.map(placeOf);
  const context: Context = {
    // A project within another (`plugins/hello` in `plugins`) would be mounted inside a tree a job has written.
    holdsAnother: name => names.some(other => other.startsWith(`${name}/`)),
    deps,
    request,
    places,
    slot,
    room: createCheckoutRoom(deps.checkoutBytes),
    taken: new Map(),
    repositories: [],
    owner: deps.sandbox.ownerOf(slot),
    view: deps.sandbox.view(places),
  };
  const sources = playbookSources(request);
  const projects = new Map<string, Promise<PlacedTree>>();
  const tasks = [
    ...request.projects.map((project, index) => () => {
      const tree = steps.lane(run => placeProject(context, project, index, timeStepsOf(run, project)));
      projects.set(sourceKey(project), tree);
      return tree;
    }),
    // Begun after all projects, and waiting for none but the one at the same commit.
    ...[...sources].map(([key, source], index) => async () => {
      // Below an overlay lies a checkout that never changes: playbooks of the same commit may run from there too.
      const there = (await projects.get(key))?.overlay?.lower;
      return steps.lane(run => placePlaybooks(context, source, index, there, timeStepsOf(run, source)));
    }),
  ];
  const trees = await inParallel(tasks, PARALLEL, task => task());
  const playbooks = trees.slice(request.projects.length);
  const placed = new Map([...sources.keys()].map((key, index) => [key, playbooks[index]]));
  return {
    overlays: trees.flatMap(({ overlay }) => overlay ?? []),
    readOnly: trees.flatMap(({ binds }) => binds),
    repositories: context.repositories,
    treeOf(source) {
      const tree = placed.get(sourceKey(source));
      if (tree === undefined) throw new Error(`${sourceKey(source)} has no playbooks or roles of the build`);
      return tree;
    },
  };
}

interface Context {
  /** Whether another project's place is below that of this one. */
  readonly holdsAnother: (place: string) => boolean;
  readonly deps: WorkspaceDeps;
  readonly request: BuildRequest;
  readonly places: BuildPlaces;
  readonly slot: number;
  readonly room: CheckoutRoom;
  readonly taken: TakenCheckouts;
  /** Those that are placed so far. */
  readonly repositories: Workspace['repositories'][number][];
  readonly owner: Owner | null;
  readonly view: JobView;
}

function sourceKey({ canonicalName, commit }: TreeSource): string {
  return `${canonicalName} ${commit}`;
}

/** One checkout per project and commit, however many playbooks and roles it has. */
function playbookSources({
  playbooks,
  roles = [],
  includeVars = [],
}: BuildRequest): ReadonlyMap<string, Source> {
  const { preRun, run, postRun } = playbooks;
  const all: readonly Source[] = [...preRun, ...run, ...postRun, ...roles, ...includeVars];
  return new Map(all.map(source => [sourceKey(source), source]));
}

/** Below `src/`. */
function placeOf({ canonicalName, place = canonicalName }: BuildProject): string {
  return place;
}

/** Otherwise the projects are only cloned. */
function isCheckedOut({ workspaceCheckout, nodes }: BuildRequest['job']): boolean {
  return workspaceCheckout === undefined || (workspaceCheckout === 'auto' && nodes.length === 0);
}

async function placeProject(
  context: Context,
  source: BuildProject,
  index: number,
  time: TimeStep,
): Promise<PlacedTree> {
  const { deps, places, owner, slot, view, taken } = context;
  const withoutFiles = !isCheckedOut(context.request.job);
  const { gitDir, reached, bytes } = await provide(context, source, time, withoutFiles);
  const place = placeOf(source);
  const at = makePath(places.src, place, owner);
  const job = `${view.work}/src/${place}`;
  const alternates = reached ? view.objects(source.canonicalName, gitDir) : null;
  const wanted = { ...source, gitDir, alternates };
  context.repositories.push({ tree: at, gitDir: reached ? gitDir : null });
  const binds =
    alternates === null || !deps.sandbox.isolated ? [] : [{ from: `${gitDir}/objects`, to: alternates }];
  if (withoutFiles || !deps.sandbox.overlays || !reached || context.holdsAnother(place)) {
    await makeCheckout(deps.own, { ...wanted, tree: at, withoutFiles }, owner, time);
    return { host: at, job, overlay: null, binds };
  }
  const tree = await deps.kept.provide(slot, owner, { ...wanted, bytes, taken, use: 'workspace' }, time);
  const layer = join(places.layers, String(index));
  mkdirSync(layer);
  for (const name of ['upper', 'work']) makeDirectory(join(layer, name), 0o755, owner);
  return { host: at, job, overlay: { lower: tree, layer, at }, binds };
}

async function placePlaybooks(
  context: Context,
  source: Source,
  index: number,
  there: string | undefined,
  time: TimeStep,
): Promise<PlacedTree> {
  const { deps, places, owner, slot, view, taken } = context;
  const job = `${view.playbooks}/${index}/${source.canonicalName}`;
  if (there !== undefined) return { host: there, job, overlay: null, binds: [{ from: there, to: job }] };
  const { gitDir, reached, bytes } = await provide(context, source, time);
  if (deps.sandbox.overlays && reached) {
    const request = {
      ...source,
      gitDir,
      bytes,
      taken,
      alternates: view.objects(source.canonicalName, gitDir),
    };
    const tree = await deps.kept.provide(slot, owner, { ...request, use: `playbooks-${index}` }, time);
    return { host: tree, job, overlay: null, binds: [{ from: tree, to: job }] };
  }
  const top = join(places.playbooks, String(index));
  makeDirectory(top, 0o755, null);
  const host = makePath(top, source.canonicalName, owner);
  const alternates = reached ? `${gitDir}/objects` : null;
  await makeCheckout(deps.own, { ...source, gitDir, tree: host, alternates }, owner, time);
  if (owner !== null) await giveToService(deps.own, top);
  return { host, job, overlay: null, binds: deps.sandbox.isolated ? [{ from: host, to: job }] : [] };
}

async function provide(
  { deps, request, room }: Context,
  source: Source,
  time: TimeStep,
  withoutFiles = false,
): Promise<{ readonly gitDir: string; readonly reached: boolean; readonly bytes: number }> {
  const found = await deps.repositories.provide({ ...source, build: request }, time);
  if (found.kind === 'unavailable') {
    throw new WorkspaceFailure(
      `commit ${source.commit} of ${source.canonicalName} cannot be had: ${found.reason}`,
      found.trouble,
    );
  }
  if (withoutFiles)
    return { gitDir: found.gitDir, bytes: 0, reached: deps.sandbox.reaches(`${found.gitDir}/objects`) };
  const bytes = await room.take(source.canonicalName, () =>
    time(
      'BuildCheckoutSize',
      () => deps.repositories.checkoutSize(source.project, source.commit),
      ({ entries, bytes }) => ({ facts: { files: entries, bytes } }),
    ),
  );
  return { gitDir: found.gitDir, bytes, reached: deps.sandbox.reaches(`${found.gitDir}/objects`) };
}

/** Creates `<root>/<name>`, every level owned by `owner`. @throws WorkspaceFailure for a name that is not a path below the root. */
function makePath(root: string, name: string, owner: Owner | null): string {
  const parts = name.split('/');
  if (!parts.every(isPlaceName)) {
    throw new WorkspaceFailure(`${JSON.stringify(name)} is not usable as a place below src`);
  }
  let path = root;
  for (const part of parts) {
    path = join(path, part);
    makeUnlessThere(path, owner);
  }
  return path;
}

function isPlaceName(part: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return part !== '' && part !== '.' && part !== '..' && part !== '.git' && !/[\u0000-\u001f]/.test(part);
}

function makeUnlessThere(path: string, owner: Owner | null): void {
  try {
    makeDirectory(path, 0o755, owner);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/**
 * The part of the workspace a job has removed or replaced by something else than a directory, or undefined. Later playbooks are
 * mounted and started there by a more privileged process, which must never follow a symbolic link of the job's. No process of
 * the job runs meanwhile.
 *
 * @param wanted paths below `work`.
 */
export function tamperedPlace({ work }: BuildPlaces, wanted: readonly string[]): string | undefined {
  for (const place of wanted) {
    let path = work;
    for (const part of relative(work, place).split('/')) {
      path = join(path, part);
      if (!isPlainDirectory(path)) return relative(work, path);
    }
  }
  return undefined;
}

function isPlainDirectory(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return false;
    throw error;
  }
}
