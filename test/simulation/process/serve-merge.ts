/** What a merger answers, computed on simulated commits: the same answers the real one gives for the same request. */
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type {
  BranchConfig,
  BranchHead,
  ConfigFile,
  MergedBranch,
  MergedInput,
  MergeRequest,
  MergerOutcome,
  MergerRequest,
  ProjectState,
} from '../../../src/model/merge.ts';
import { type ProjectKey, parseCommitId, projectIdOf } from '../../../src/model/project.ts';
import type { Step } from '../../../src/model/step.ts';
import type { CodeHost } from '../host/code-host.ts';

/** Branch tips of the projects a request needs, as fetched. */
export type Tips = ReadonlyMap<ProjectKey, ReadonlyMap<string, ObjectId>>;

export function projectsOf(request: MergerRequest): readonly ProjectKey[] {
  const named =
    request.kind === 'config-files'
      ? [request.project]
      : request.kind === 'repo-state'
        ? request.states.map(each => each.project)
        : [...request.inputs, ...request.states, ...request.pinned].map(each => each.project);
  return [...new Set(named)];
}

export function tipsOf(host: CodeHost, project: ProjectKey): ReadonlyMap<string, ObjectId> {
  const { refs } = host.repository(projectIdOf(project).name);
  const branches = [...refs].flatMap(([ref, commit]): [string, ObjectId][] => {
    const branch = ref.slice('refs/heads/'.length);
    return /^(for|gate)\//.test(branch) ? [] : [[branch, commit]];
  });
  return new Map(branches);
}

export function serveMerge(
  request: MergerRequest,
  tips: Tips,
  host: CodeHost,
  work: { readonly clock: Clock; readonly worker: string; readonly steps: readonly Step[] },
): MergerOutcome {
  const { steps, worker } = work;
  switch (request.kind) {
    case 'config-files':
      return {
        kind: 'config-files',
        branches: configFiles(request.project, request.branches, tips, host),
        steps,
        worker,
      };
    case 'repo-state':
      return { kind: 'repo-state', heads: headsOf(request.states, tips), steps, worker };
    case 'merge':
      return { ...merge(request, tips, host), steps, worker };
  }
}

function configFiles(
  project: ProjectKey,
  branches: readonly string[],
  tips: Tips,
  host: CodeHost,
): readonly BranchConfig[] {
  return [...(tips.get(project) ?? [])]
    .filter(([branch]) => branches.length === 0 || branches.includes(branch))
    .map(([branch, tip]) => configOf(project, branch, tip, host));
}

function configOf(project: ProjectKey, branch: string, commit: ObjectId, host: CodeHost): BranchConfig {
  return { project, branch, commit: parseCommitId(commit), files: filesOf(commit, host) };
}

function filesOf(commit: ObjectId, host: CodeHost): readonly ConfigFile[] {
  const text = host.objects.get(commit).files.get('zuul.yaml');
  return text === undefined ? [] : [{ path: 'zuul.yaml', text }];
}

function headsOf(states: readonly ProjectState[], tips: Tips): readonly BranchHead[] {
  return states.flatMap(({ project, branches }) =>
    [...(tips.get(project) ?? [])]
      .filter(([branch]) => branches.length === 0 || branches.includes(branch))
      .map(([branch, tip]) => ({ project, branch, commit: parseCommitId(tip) })),
  );
}

type Answer =
  | Omit<Extract<MergerOutcome, { kind: 'merged' }>, 'steps' | 'worker'>
  | Omit<Extract<MergerOutcome, { kind: 'conflict' }>, 'steps' | 'worker'>
  | Omit<Extract<MergerOutcome, { kind: 'failed' }>, 'steps' | 'worker'>;

/** A branch under way. */
interface Lane {
  readonly base: ObjectId;
  readonly before: ObjectId;
  readonly at: ObjectId;
  readonly own: boolean;
  readonly inputs: readonly MergedInput[];
}

function merge(request: MergeRequest, tips: Tips, host: CodeHost): Answer {
  const { objects } = host;
  const lanes = new Map<string, Lane>();
  const firstOwn = request.inputs.length - request.own;
  for (const [index, input] of request.inputs.entries()) {
    const { project, branch } = input;
    const base = tips.get(project)?.get(branch);
    if (base === undefined)
      return {
        kind: 'failed',
        text: `Unable to update ${project}: there is no branch ${branch}`,
        retryable: false,
      };
    const key = `${project} ${branch}`;
    const lane = lanes.get(key) ?? { base, before: base, at: base, own: false, inputs: [] };
    const merged = objects.merge(lane.at, parseObjectId(input.commit), input.message);
    if (merged.kind === 'conflict')
      return { kind: 'conflict', change: input.change, project, files: merged.files };
    const isOwn = index >= firstOwn;
    lanes.set(key, {
      base,
      at: merged.commit,
      before: isOwn ? lane.before : merged.commit,
      own: lane.own || isOwn,
      inputs: [...lane.inputs, { ref: input.ref, commit: input.commit, message: input.message }],
    });
  }
  const branches = [...lanes].map(([key, { base, before, at, inputs }]): MergedBranch => {
    const [project, branch] = laneOf(key, request);
    return {
      project,
      branch,
      base: parseCommitId(base),
      commit: parseCommitId(at),
      tree: objects.get(at).tree,
      before: parseCommitId(before),
      beforeTree: null,
      inputs,
    };
  });
  const pinned = request.pinned.flatMap(({ project, branch, commit }) =>
    branch === undefined ? [] : [{ project, branch, commit, base: tips.get(project)?.get(branch) ?? null }],
  );
  const compared = [...branches, ...pinned];
  return {
    kind: 'merged',
    branches,
    filesChanged: filesChanged(request, branches, host),
    config: compared.flatMap(({ project, branch, commit, base }) => {
      const own = filesOf(parseObjectId(commit), host);
      const known = base === null ? [] : filesOf(parseObjectId(base), host);
      return own[0]?.text === known[0]?.text ? [] : [configOf(project, branch, parseObjectId(commit), host)];
    }),
    heads: headsWith(request, tips, compared),
  };
}

function laneOf(key: string, request: MergeRequest): readonly [ProjectKey, string] {
  const input = request.inputs.find(each => `${each.project} ${each.branch}` === key);
  if (input === undefined) throw new Error(`no input of lane ${key}`);
  return [input.project, input.branch];
}

function filesChanged(request: MergeRequest, branches: readonly MergedBranch[], host: CodeHost) {
  const own = new Set(request.inputs.slice(request.inputs.length - request.own).map(each => each.project));
  const ranges = [
    ...branches.filter(each => own.has(each.project)),
    ...request.pinned.flatMap(({ project, before, commit }) =>
      before === null ? [] : [{ project, before, commit }],
    ),
  ];
  return [...Map.groupBy(ranges, each => each.project)].map(([project, all]) => ({
    project,
    files: [
      ...new Set(
        all.flatMap(({ before, commit }) =>
          host.objects.changedPaths(parseObjectId(before), parseObjectId(commit)),
        ),
      ),
    ].sort(),
  }));
}

function headsWith(
  request: MergeRequest,
  tips: Tips,
  tested: readonly {
    readonly project: ProjectKey;
    readonly branch: string;
    readonly commit: MergedBranch['commit'];
  }[],
): readonly BranchHead[] {
  const named = new Set([...request.states, ...request.pinned].map(each => each.project));
  return [...named].flatMap(project => {
    const heads = new Map(
      [...(tips.get(project) ?? [])].map(([branch, tip]) => [branch, parseCommitId(tip)]),
    );
    for (const each of tested) if (each.project === project) heads.set(each.branch, each.commit);
    return [...heads].map(([branch, commit]) => ({ project, branch, commit }));
  });
}
