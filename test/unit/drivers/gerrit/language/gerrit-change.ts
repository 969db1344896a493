/** Change 12 of alice on `master`, without votes, as the driver keeps it. */
import type { Approval, GerritAccount, GerritFacts, LabelFact } from '../../../../../drivers/gerrit/facts.ts';
import { addMilliseconds, parseNanoseconds } from '../../../../../src/lib/clock.ts';
import { type ChangeRecord, changeKey, refUpdateKey } from '../../../../../src/model/change.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { parseCommitId, projectKey } from '../../../../../src/model/project.ts';

export const NOW = parseNanoseconds('1795000000123456789');
export const REVISION = parseCommitId('3f'.repeat(20));
export const project = projectKey({ connection: 'gerrit', name: 'acme/app' });

const IDS: { readonly [username: string]: number } = { alice: 1_000_001, bob: 1_000_002, zuul: 1_000_003 };

export function account(username: string): GerritAccount {
  return {
    id: IDS[username] ?? 1_000_009,
    username,
    email: `${username}@example.org`,
    name: username.toUpperCase(),
  };
}

export function vote(label: string, value: number, by: string, parts: Partial<Approval> = {}): Approval {
  return { label, value, by: account(by), at: addMilliseconds(NOW, -60_000), ...parts };
}

export function label(name: string, state: LabelFact['state'], parts: Partial<LabelFact> = {}): LabelFact {
  return { name, state, ours: { min: -2, max: 2 }, max: 2, ...parts };
}

export function gerritRecord(
  parts: Partial<GerritFacts> = {},
  status: ChangeRecord['status'] = 'open',
): ChangeRecord {
  const facts: GerritFacts = {
    kind: 'change',
    number: 12,
    changeId: 'Ie2f5315d552a462057aa79af9159d1d6c4ca5263',
    status: 'NEW',
    wip: false,
    private: false,
    topic: null,
    hashtags: [],
    owner: account('alice'),
    uploader: account('alice'),
    patchset: 2,
    revision: REVISION,
    approvals: [],
    labels: [],
    submitRequirements: null,
    submitRecords: null,
    submittable: null,
    mergeable: null,
    submitType: 'MERGE_IF_NECESSARY',
    parents: [],
    updatedAt: NOW,
    ...parts,
  };
  return {
    change: {
      kind: 'change',
      key: changeKey(project, '12'),
      project,
      branch: 'master',
      id: '12',
      patchset: '2',
      commit: REVISION,
      ref: 'refs/changes/12/12/2',
      subject: 'Log in',
      owner: 'alice',
    },
    status,
    dependsOn: [],
    unresolvedDependencies: [],
    facts: facts as unknown as Json,
    fetchedAt: NOW,
  };
}

export function refRecord(ref: string, newCommit: typeof REVISION | null = REVISION): ChangeRecord {
  return {
    ...gerritRecord(),
    change: {
      kind: 'ref',
      key: refUpdateKey(project, ref, newCommit),
      project,
      ref,
      ...(ref.startsWith('refs/heads/') ? { branch: ref.slice('refs/heads/'.length) } : {}),
      oldCommit: REVISION,
      newCommit,
    },
    facts: { kind: 'ref' },
  };
}
