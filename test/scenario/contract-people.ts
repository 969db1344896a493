/** What people do at the fake host of the contract, and how its deliveries reach the gate. */
import type { ContractHost } from '../fake/contract-host/host.ts';
import type { Developer } from './developer.ts';
import type { Observer } from './observer.ts';
import { CONNECTION, TOKEN } from './site.ts';

export interface ContractSite extends Disposable {
  readonly host: ContractHost;
  /** Of the connection's section. */
  readonly lines: readonly string[];
}

export interface PeopleDeps {
  site(): { readonly service: { readonly url: string }; readonly observer: Observer };
  developer(project: string): Developer;
  problem(error: unknown): void;
}

/** The actions that a story of the git driver does with pushes. Each returns when the gate has its event. */
export interface People {
  propose(project: string, branch: string, topic: string, commit: string): Promise<void>;
  approve(project: string, branch: string, topic: string, commit: string): Promise<void>;
  withdraw(project: string, branch: string, topic: string): Promise<void>;
  abandon(project: string, branch: string, topic: string): Promise<void>;
  /** No delivery arrives any more. */
  leave(): void;
}

export function contractPeople(host: ContractHost, deps: PeopleDeps): People {
  const sent: string[] = [];
  host.onDelivery = delivery => {
    sent.push(delivery.id);
    deliver(delivery).catch(deps.problem);
  };

  async function deliver(delivery: { readonly id: string }): Promise<void> {
    const response = await fetch(`${deps.site().service.url}/api/connection/${CONNECTION}/payload`, {
      method: 'POST',
      body: JSON.stringify(delivery),
      headers: { 'Content-Type': 'application/json', 'X-Contract-Token': TOKEN },
    });
    if (!response.ok) throw new Error(`the webhook was refused: ${await response.text()}`);
  }

  async function heard(deed: Promise<void>): Promise<void> {
    const from = sent.length;
    await deed;
    for (const id of sent.slice(from)) await deps.site().observer.eventProcessed(`delivery-${id}`);
  }

  const idOf = (branch: string, topic: string) => `${branch}/${topic}`;
  return {
    async propose(project, branch, topic, commit) {
      await deps.developer(project).push(commit, `refs/staging/${topic}`);
      await heard(host.propose(project, { id: idOf(branch, topic), branch, head: commit }));
    },
    approve: (project, branch, topic) => heard(host.vote(project, idOf(branch, topic))),
    withdraw: (project, branch, topic) => heard(host.withdrawVotes(project, idOf(branch, topic))),
    abandon: (project, branch, topic) => heard(host.abandon(project, idOf(branch, topic))),
    leave() {
      host.onDelivery = () => {};
    },
  };
}
