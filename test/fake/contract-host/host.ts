/**
 * A code host as the contract has it, on real git repositories: it makes its own merge commits (merge or squash), has votes with
 * dates, limits, answers that are behind its own writes, and deliveries that may be lost, doubled or swapped (faults.ts).
 *
 *     const host = new ContractHost(project => bare(project), clock);
 *     await host.propose('acme/app', { id: 'main/login', branch: 'main', head: commit });
 *     await host.vote('acme/app', 'main/login');
 *     (await host.read('acme/app')).proposals.get('main/login')?.votes     // [{by: 'reviewer', at: …}]
 *
 * What people do is above, the API that the driver calls below. A snapshot is what one read shows, with the number of the write
 * that made it.
 */
import type { Clock, Nanoseconds } from '../../../src/lib/clock.ts';
import type { Report } from '../../../src/model/report.ts';
import { type Delivery, Faults, HostError } from './faults.ts';
import { type BranchHead, branchesOf, mergeInto, ownCommits, type Strategy, setRef } from './repository.ts';

export interface Vote {
  readonly by: string;
  readonly at: Nanoseconds;
  /** The revision that was voted on. */
  readonly head: string;
}

export interface Proposal {
  readonly id: string;
  readonly branch: string;
  readonly ref: string;
  readonly head: string;
  /** Commits it brought to its branch when it was made, newest first. */
  readonly commits: readonly { readonly commit: string; readonly message: string }[];
  readonly state: 'open' | 'merged' | 'abandoned';
  readonly votes: readonly Vote[];
  readonly topic: string | null;
  /** What the host made of it. */
  readonly landed?: BranchHead;
}

export interface BranchRules {
  readonly protected: boolean;
  readonly locked: boolean;
}

/** What a person wrote to the gate below a proposal. */
export interface Command {
  readonly id: string;
  readonly proposal: string;
  readonly by: string;
  readonly text: 'dequeue' | 'promote' | 'why';
}

export interface Snapshot {
  readonly sequence: number;
  readonly branches: ReadonlyMap<string, BranchHead>;
  /** Rules of branches, by name; a branch without an entry has none. */
  readonly rules: ReadonlyMap<string, BranchRules>;
  readonly proposals: ReadonlyMap<string, Proposal>;
  /** Oldest first; none is ever removed. */
  readonly commands: readonly Command[];
}

export class ContractHost {
  readonly faults = new Faults();
  /** Of the API, in order, e.g. `merge acme/app main/login`. */
  readonly calls: string[] = [];
  /** A rule that forbids every merge, in the host's words. */
  rule: string | undefined;
  /** It merges all open proposals of a topic in one go. */
  landsTopics = false;
  /** Where deliveries go. */
  onDelivery: (delivery: Delivery) => void = () => {};
  readonly bare: (project: string) => string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #now = new Map<string, Snapshot>();
  /** What reads that are behind show, and how many of them are left. */
  readonly #stale = new Map<string, { readonly shown: Snapshot; left: number }>();
  readonly #comments = new Map<string, Map<string, Report>>();
  #sequence = 0;
  #deliveries = 0;

  constructor(bare: (project: string) => string, clock: Pick<Clock, 'now'>) {
    this.bare = bare;
    this.#clock = clock;
  }

  /** A new proposal, or a new revision of one. @param head is in the repository. */
  async propose(
    project: string,
    { id, branch, head }: Pick<Proposal, 'id' | 'branch' | 'head'>,
  ): Promise<void> {
    const { proposals } = await this.#present(project);
    const known = proposals.get(id);
    const ref = known?.ref ?? `refs/changes/${proposals.size + 1}/head`;
    await setRef(this.bare(project), ref, head);
    const commits = await ownCommits(this.bare(project), head, branch);
    const state = 'open';
    const { votes = [], topic = null } = known ?? {};
    await this.#write(project, { id, branch, ref, head, commits, state, votes, topic });
  }

  async setTopic(project: string, id: string, topic: string | null): Promise<void> {
    await this.#write(project, { ...(await this.proposal(project, id)), topic });
  }

  async vote(project: string, id: string, by = 'reviewer'): Promise<void> {
    const proposal = await this.proposal(project, id);
    const vote = { by, at: this.#clock.now(), head: proposal.head };
    await this.#write(project, { ...proposal, votes: [...proposal.votes, vote] });
  }

  async withdrawVotes(project: string, id: string): Promise<void> {
    await this.#write(project, { ...(await this.proposal(project, id)), votes: [] });
  }

  async abandon(project: string, id: string): Promise<void> {
    await this.#write(project, { ...(await this.proposal(project, id)), state: 'abandoned' });
  }

  async setRules(project: string, branch: string, rules: BranchRules): Promise<void> {
    const before = await this.#present(project);
    this.#now.set(project, { ...before, rules: new Map(before.rules).set(branch, rules) });
    await this.#write(project);
  }

  async command(project: string, proposal: string, text: Command['text'], by = 'reviewer'): Promise<void> {
    const before = await this.#present(project);
    const command = { id: `command-${before.commands.length + 1}`, proposal, by, text };
    this.#now.set(project, { ...before, commands: [...before.commands, command] });
    await this.#write(project);
  }

  /** Something in the repository was changed past the host's own pages. */
  async pushed(project: string): Promise<void> {
    await this.#write(project);
  }

  /** As it is, also where a read would be stale. */
  async proposal(project: string, id: string): Promise<Proposal> {
    const found = (await this.#present(project)).proposals.get(id);
    if (found === undefined) throw new Error(`${project} has no proposal ${id}`);
    return found;
  }

  /** What was reported on a proposal, oldest first. */
  reports(project: string, id: string): readonly Report[] {
    return [...(this.#comments.get(`${project} ${id}`)?.values() ?? [])];
  }

  /** API. */
  async read(project: string): Promise<Snapshot> {
    this.#begin('read', project);
    const present = await this.#present(project);
    const stale = this.#stale.get(project);
    if (stale === undefined || stale.left === 0) return present;
    stale.left -= 1;
    return stale.shown;
  }

  /** API. Open proposals of a topic, over all projects: at most `most`, and whether there are more. */
  ofTopic(topic: string, most: number) {
    this.#begin('topic', topic);
    const all = [...this.#now].flatMap(([project, { proposals }]) =>
      [...proposals.values()].flatMap(({ id, topic: own, state }) =>
        own === topic && state === 'open' ? [{ project, id }] : [],
      ),
    );
    return { proposals: all.slice(0, most), isMore: all.length > most };
  }

  /** API. With its topic, where the host lands topics. @returns the branch as it is now, and the number of the write. */
  async merge(
    project: string,
    id: string,
    { head, strategy }: { readonly head: string; readonly strategy: Strategy },
  ): Promise<BranchHead & { readonly sequence: number }> {
    this.#begin('merge', project, id);
    const proposal = await this.proposal(project, id);
    if (proposal.state !== 'open') throw new HostError(405, `the proposal is ${proposal.state}`);
    if (proposal.head !== head) throw new HostError(409, `the proposal is at ${proposal.head.slice(0, 8)}`);
    if (this.rule !== undefined) throw new HostError(422, this.rule);
    await this.faults.beforeMerge();
    const title = `${id} (${strategy})`;
    const landed = await mergeInto(this.bare(project), proposal.branch, head, { strategy, title });
    if (landed === undefined) throw new HostError(409, 'it conflicts with its branch');
    const { sequence } = await this.#write(project, { ...proposal, state: 'merged', landed });
    if (this.landsTopics && proposal.topic !== null) await this.#mergeRest(proposal.topic, strategy);
    this.faults.end();
    return { ...landed, sequence };
  }

  async #mergeRest(topic: string, strategy: Strategy): Promise<void> {
    for (const [project, { proposals }] of this.#now)
      for (const proposal of proposals.values()) {
        if (proposal.topic !== topic || proposal.state !== 'open') continue;
        const title = `${proposal.id} (${strategy})`;
        const landed = await mergeInto(this.bare(project), proposal.branch, proposal.head, {
          strategy,
          title,
        });
        if (landed === undefined) throw new HostError(409, `${proposal.id} conflicts with its branch`);
        await this.#write(project, { ...proposal, state: 'merged', landed });
      }
  }

  /** API. Takes the data as JSON; a comment with a key that is there is not written again. */
  async comment(
    project: string,
    id: string,
    { key, report }: { readonly key: string; readonly report: Report },
  ): Promise<void> {
    this.#begin('comment', project, id);
    const place = `${project} ${id}`;
    const comments = this.#comments.get(place) ?? new Map<string, Report>();
    const taken: Report = JSON.parse(JSON.stringify(report));
    this.#comments.set(place, comments.set(key, comments.get(key) ?? taken));
  }

  #begin(call: 'read' | 'merge' | 'comment' | 'topic', ...what: readonly string[]): void {
    this.calls.push([call, ...what].join(' '));
    this.faults.begin(call);
  }

  async #present(project: string): Promise<Snapshot> {
    const known = this.#now.get(project);
    if (known !== undefined) return known;
    const branches = await branchesOf(this.bare(project));
    const first = { sequence: 0, branches, rules: new Map(), proposals: new Map(), commands: [] };
    this.#now.set(project, first);
    return first;
  }

  async #write(project: string, proposal?: Proposal): Promise<Snapshot> {
    const before = await this.#present(project);
    const branches = await branchesOf(this.bare(project));
    const proposals = new Map(before.proposals);
    if (proposal !== undefined) proposals.set(proposal.id, proposal);
    const sequence = ++this.#sequence;
    const now = { ...before, sequence, branches, proposals };
    this.#now.set(project, now);
    this.#stale.set(project, { shown: before, left: this.faults.lag });
    const delivery = { id: `${++this.#deliveries}`, project, sequence };
    for (const each of this.faults.deliver(delivery)) this.onDelivery(each);
    return now;
  }
}
