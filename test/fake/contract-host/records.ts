/** Proposals of the fake host as change records. */
import { dependsOnLines } from '../../../drivers/git/depends-on.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import {
  type ChangeKey,
  type ChangeRecord,
  changeKey,
  type ProposedChange,
} from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import { type ProjectKey, parseCommitId, projectIdOf, projectKey } from '../../../src/model/project.ts';
import type { Proposal, Snapshot } from './host.ts';

const PLACE = 'https://contract.example/';

/** The page of a proposal, and what names it in a `Depends-On` line. */
export function urlOf(project: string, id: string): string {
  return `${PLACE}${project}/-/${encodeURIComponent(id)}`;
}

export function changeNamed(
  value: string,
  connection: string,
  projects: ReadonlySet<ProjectKey> | undefined,
): ChangeKey | undefined {
  const [name = '', id] = value.startsWith(PLACE) ? value.slice(PLACE.length).split('/-/') : [];
  const project = projectKey({ connection, name: name === '' ? 'none' : name });
  if (id === undefined || (projects !== undefined && !projects.has(project))) return undefined;
  return changeKey(project, decodeURIComponent(id));
}

export function isApproved({ head, votes }: Proposal): boolean {
  return votes.some(vote => vote.head === head);
}

export function recordOf(
  project: ProjectKey,
  proposal: Proposal,
  snapshot: Snapshot,
  {
    now,
    projects,
    landsTopics,
  }: {
    readonly now: Nanoseconds;
    readonly projects: ReadonlySet<ProjectKey> | undefined;
    readonly landsTopics: boolean;
  },
): ChangeRecord & { readonly change: ProposedChange } {
  const { id, branch, ref, head, commits, state, votes, topic } = proposal;
  const { connection, name } = projectIdOf(project);
  const others = [...snapshot.proposals.values()].filter(each => each.id !== id && each.state === 'open');
  const below = commits.slice(1).flatMap(({ commit }) => others.find(each => each.head === commit) ?? []);
  const lines = commits.flatMap(({ message }) => dependsOnLines(message));
  const named = lines.map(line => ({ line, key: changeNamed(line, connection, projects) }));
  const nearest = below[0] === undefined ? [] : [changeKey(project, below[0].id)];
  const facts = { approved: isApproved(proposal), votes };
  return {
    change: {
      kind: 'change',
      key: changeKey(project, id),
      project,
      url: urlOf(name, id),
      branch,
      id,
      patchset: head,
      commit: parseCommitId(head),
      ref,
      subject: commits[0]?.message.split('\n')[0] ?? '',
    },
    status: state,
    dependsOn: [...new Set([...nearest, ...named.flatMap(({ key }) => key ?? [])])],
    unresolvedDependencies: named.flatMap(({ line, key }) => (key === undefined ? [line] : [])),
    ...(nearest.length === 0 ? {} : { builtOn: nearest }),
    ...(topic === null ? {} : { topic: { name: topic, landsWhole: landsTopics } }),
    facts: facts as unknown as Json,
    fetchedAt: now,
  };
}
