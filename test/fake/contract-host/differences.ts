/** What happened at the fake host between two reads of a project. */

import type { HostDequeue, HostPromote } from '../../../src/driver/source.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid, spanIdOf, traceIdOf } from '../../../src/lib/ids.ts';
import {
  type Change,
  type ChangeRecord,
  changeKey,
  refUpdateKey,
  targetBranchOf,
} from '../../../src/model/change.ts';
import type { ConnectionEvent, TriggerEvent } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/job.ts';
import { type ProjectKey, parseCommitId } from '../../../src/model/project.ts';
import type { BranchRules, Command, Snapshot } from './host.ts';
import { isApproved, recordOf } from './records.ts';

interface Remembered {
  /** How many were there. */
  readonly commands: number;
  readonly branches: { readonly [branch: string]: string };
  readonly rules: { readonly [branch: string]: BranchRules };
  readonly proposals: {
    readonly [id: string]: {
      readonly head: string;
      readonly state: string;
      readonly approved: boolean;
      readonly topic: string | null;
    };
  };
}

export const NO_RULES: BranchRules = { protected: false, locked: false };

export function encodeMemory({ branches, rules, proposals, commands }: Snapshot): Json {
  return {
    commands: commands.length,
    rules: Object.fromEntries([...rules].map(([name, each]) => [name, { ...each }])),
    branches: Object.fromEntries([...branches].map(([name, { commit }]) => [name, commit])),
    proposals: Object.fromEntries(
      [...proposals].map(([id, proposal]) => [
        id,
        {
          head: proposal.head,
          state: proposal.state,
          approved: isApproved(proposal),
          topic: proposal.topic,
        },
      ]),
    ),
  };
}

export function readMemory(value: Json | undefined): Remembered | undefined {
  return value as unknown as Remembered | undefined;
}

interface Reading {
  readonly event: ConnectionEvent;
  readonly project: ProjectKey;
  readonly before: Remembered | undefined;
  readonly snapshot: Snapshot;
  readonly now: Nanoseconds;
  readonly projects: ReadonlySet<ProjectKey>;
  readonly landsTopics: boolean;
}

interface Piece {
  readonly type: string;
  readonly change: Change;
  readonly tree?: string;
  readonly hasOtherRules?: boolean;
}

export function differencesOf(reading: Reading) {
  const moved = moves(reading);
  const { pieces, records, updated } = proposalDifferences(reading);
  const events = [...moved.pieces, ...pieces].map((piece, ordinal) => eventOf(piece, ordinal, reading));
  const dequeues = reading.before === undefined ? [] : dequeuesOf(reading);
  const promotes = reading.before === undefined ? [] : commanded('promote', reading);
  return { events, changes: [...moved.records, ...records], updated, dequeues, promotes };
}

/** Branches that the host makes of what it is about to land, as `queue/<target>/<name>`. Undefined: a branch of people. */
export function groupTarget(branch: string): string | undefined {
  return /^queue\/([^/]+)\//.exec(branch)?.[1];
}

function moves({ project, before, snapshot, now }: Reading) {
  const pieces: Piece[] = [];
  for (const [branch, { commit, tree }] of before === undefined ? [] : snapshot.branches) {
    const old = before?.branches[branch];
    const rules = snapshot.rules.get(branch) ?? NO_RULES;
    const { protected: isProtected, locked } = before?.rules[branch] ?? NO_RULES;
    const hasOtherRules = rules.protected !== isProtected || rules.locked !== locked;
    if (old === commit && !hasOtherRules) continue;
    const ref = `refs/heads/${branch}`;
    const newCommit = parseCommitId(commit);
    const oldCommit = old === undefined ? null : parseCommitId(old);
    const key = refUpdateKey(project, ref, newCommit);
    const targetBranch = groupTarget(branch);
    if (targetBranch !== undefined) {
      const base = snapshot.branches.get(targetBranch)?.commit;
      const on = { targetBranch, oldCommit: base === undefined ? null : parseCommitId(base), newCommit };
      pieces.push({ type: 'ref-updated', change: { kind: 'ref', key, project, ref, ...on } });
      continue;
    }
    pieces.push({
      type: old === commit ? 'branch-rules-changed' : 'ref-updated',
      hasOtherRules,
      change: { kind: 'ref', key, project, ref, branch, oldCommit, newCommit },
      tree,
    });
  }
  const records: ChangeRecord[] = pieces.map(({ change }) => ({
    change,
    status: 'open',
    dependsOn: [],
    unresolvedDependencies: [],
    facts: {},
    fetchedAt: now,
  }));
  return { pieces, records };
}

/** A group that is gone will not be landed: its item need not go on. */
function dequeuesOf({ project, before, snapshot }: Reading): readonly HostDequeue[] {
  const gone = Object.entries(before?.branches ?? {}).filter(
    ([branch]) => groupTarget(branch) !== undefined && !snapshot.branches.has(branch),
  );
  return [
    ...gone.map(([branch, commit]) => ({
      change: refUpdateKey(project, `refs/heads/${branch}`, parseCommitId(commit)),
      by: 'the host',
    })),
    ...commanded('dequeue', { project, before, snapshot }),
  ];
}

/** Changes that people named in a command since the last look. */
function commanded(
  wanted: Command['text'],
  { project, before, snapshot }: Pick<Reading, 'project' | 'before' | 'snapshot'>,
): readonly HostPromote[] {
  return snapshot.commands
    .slice(before?.commands)
    .filter(({ text }) => text === wanted)
    .map(({ proposal, by }) => ({ change: changeKey(project, proposal), by }));
}

function proposalDifferences({ project, before, snapshot, now, projects, landsTopics }: Reading) {
  const pieces: Piece[] = [];
  const records: ChangeRecord[] = [];
  const updated: Change['key'][] = [];
  for (const proposal of snapshot.proposals.values()) {
    const { id, head, state, topic } = proposal;
    const old = before?.proposals[id];
    const approved = isApproved(proposal);
    const isSame = old?.head === head && old.state === state && old.approved === approved;
    if (isSame && old.topic === topic) continue;
    const record = recordOf(project, proposal, snapshot, { now, projects, landsTopics });
    const types = [
      ...(state === 'open' && old?.head !== head ? ['proposed'] : []),
      ...(state === 'open' && approved && (old?.head !== head || !old.approved) ? ['approved'] : []),
      ...(state === 'abandoned' && old?.state === 'open' ? ['abandoned'] : []),
    ];
    pieces.push(...types.map(type => ({ type, change: record.change })));
    records.push(record);
    if (types.length === 0) updated.push(record.change.key);
  }
  return { pieces, records, updated };
}

function eventOf(
  { type, change, tree, hasOtherRules = false }: Piece,
  ordinal: number,
  { event, project, before }: Reading,
): TriggerEvent {
  const isMove = change.kind === 'ref' && change.branch !== undefined;
  return {
    uuid: derivedUuid(event.uuid, 'trigger', String(ordinal)),
    connection: event.connection,
    driver: 'contract',
    type,
    project,
    branch: targetBranchOf(change) ?? null,
    ref: change.ref,
    change,
    ...(tree === undefined ? {} : { tree }),
    facts: {},
    configMayHaveChanged: isMove ? [change.branch] : [],
    branchesChanged: hasOtherRules || (isMove && before?.branches[change.branch] === undefined),
    receivedAt: event.receivedAt,
    sampled: event.sampled,
    span: { traceId: traceIdOf(event.uuid), spanId: spanIdOf(event.uuid) },
  };
}
