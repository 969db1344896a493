/**
 * A service and a Gerrit in one process, for stories: the real service with the real driver over SSH, HTTP and git, and jobs that end
 * when the story ends them.
 *
 *     gerritStory('an approved change lands', {}, async world => {
 *       const change = await world.push({ message: 'Log in' });
 *       await world.runs('unit: 1');                          // exactly these jobs run, and nothing else moves
 *       world.free();                                         // from now on jobs end as soon as they begin
 *       await world.leaves(change, 'SUCCESS', 'check');
 *       await world.approve(change);
 *       await world.leaves(change, 'SUCCESS');
 *     });
 *
 * alice pushes, bob approves, gatehouse is the gate. A job is written `<job>: <numbers it is tested with, oldest first>`.
 */
import { test } from 'vitest';
import type { FinishedItem, LiveItem } from '../../../src/api/live-item.ts';
import {
  type HostedSetup,
  type HostedWorld,
  openHostedWorld,
  type StoryHost,
  storyFolder,
} from '../../scenario/hosted-world.ts';
import { DEADLINE } from '../../scenario/observer.ts';
import { TOKEN } from '../../scenario/site.ts';
import type { Stage } from '../../scenario/stage.ts';
import type { PushRequest } from '../fake/deeds/changes.ts';
import type { ProjectRequest } from '../fake/deeds/projects.ts';
import { type FakeGerrit, type FakeGerritOptions, startFakeGerrit } from '../fake/fake-gerrit.ts';
import type { FakeSsh } from '../fake/ssh/fake-ssh.ts';
import type { FakeChange } from '../fake/world.ts';
import { gerritLayout } from './gerrit-layout.ts';

export interface GerritSetup extends HostedSetup {
  /** zuul.yaml of org/config; default {@link gerritLayout}. */
  readonly layout?: string;
  /** More lines of the connection's section. */
  readonly connection?: readonly string[];
  /** How Gerrit is asked and written to; default `http`, with the account's password. `ssh`: with its key alone, where the stream announces. */
  readonly asked?: 'http' | 'ssh';
  /** What announces changes; default `stream`. */
  readonly announcedBy?: 'stream' | 'webhooks' | 'polls';
  /** Untrusted projects; default acme/app and acme/library. */
  readonly projects?: readonly string[];
  /** How each of them is made. */
  readonly project?: ProjectRequest;
  readonly fake?: FakeGerritOptions;
  /** At Gerrit, before the service starts. */
  readonly before?: (gerrit: FakeGerrit) => Promise<void>;
}

export interface GerritWorld extends Omit<HostedWorld, 'live'> {
  readonly gerrit: FakeGerrit;
  /** The stream and its network. @throws Error unless the stream announces changes */
  readonly ssh: FakeSsh;
  /** A change of acme/app; default: one file of its own. */
  push(request?: Partial<PushRequest>): Promise<FakeChange>;
  /** bob votes Code-Review +2 and Workflow +1. */
  approve(change: FakeChange): Promise<void>;
  /** Approves it and waits until it is in the gate: events of different changes are read side by side. */
  gate(change: FakeChange): Promise<void>;
  /** Waits until the item of the change has left the pipeline, and checks its result. Of several items the newest. */
  leaves(change: FakeChange, result: string, pipeline?: string): Promise<FinishedItem>;
  item(change: FakeChange, pipeline?: string): LiveItem | undefined;
}

export function gerritStory(
  name: string,
  setup: GerritSetup,
  play: (world: GerritWorld) => Promise<void>,
): void {
  test(name, { timeout: 4 * DEADLINE }, async () => {
    await using world = await openGerritWorld(setup);
    await play(world);
    await world.end();
  });
}

/** Dispose it, or end it with `end`, which checks what must hold for every story. */
export async function openGerritWorld(setup: GerritSetup): Promise<GerritWorld> {
  const root = await storyFolder('gatehouse-gerrit-');
  const { host, world } = await openHostedWorld(root, setup, stage => openGerrit(setup, stage));
  // A change that is there before is one of the past: the first look makes nothing of it.
  await world.observer.until('the event stream', () => host.ssh?.streams() !== 0);
  return gerritWorld(host, world);
}

interface GerritHost extends StoryHost {
  readonly gerrit: FakeGerrit;
  readonly ssh: FakeSsh | undefined;
}

async function openGerrit(setup: GerritSetup, stage: Stage): Promise<GerritHost> {
  const gerrit = await startFakeGerrit(setup.fake);
  const projects = setup.projects ?? ['acme/app', 'acme/library'];
  const files = { 'zuul.yaml': setup.layout ?? gerritLayout(), 'playbooks/job.sh': stage.playbook };
  await gerrit.project('org/config', { files });
  for (const project of projects) await gerrit.project(project, setup.project);
  await setup.before?.(gerrit);
  const { announcedBy = 'stream' } = setup;
  const door = announcedBy === 'stream' ? await gerrit.openSsh() : undefined;
  const stream =
    door === undefined
      ? []
      : [`port = ${door.port}`, `sshkey = ${door.keyFile}`, `ssh_known_hosts = ${door.knownHostsFile}`];
  return {
    gerrit,
    ssh: door?.ssh,
    projects,
    driverLines: [
      'driver = gerrit',
      'server = 127.0.0.1',
      `baseurl = ${gerrit.url}`,
      'user = gatehouse',
      ...(setup.asked === 'ssh' ? [] : ['password = gatehouse-password']),
      ...stream,
      ...(setup.connection ?? []),
    ],
    notify(url) {
      if (announcedBy === 'webhooks')
        gerrit.webhooks.target = {
          url: `${url}/api/connection/local/payload?token=${encodeURIComponent(TOKEN)}`,
        };
    },
    settled: () => gerrit.webhooks.settled(),
    carriedOut: () => gerrit.carriedOut(),
    takeViolations: () => [],
    [Symbol.asyncDispose]: () => gerrit[Symbol.asyncDispose](),
  };
}

function gerritWorld({ gerrit, ssh }: GerritHost, world: HostedWorld): GerritWorld {
  const named = ({ number, project }: FakeChange) => ({ number, project: project.name });
  let pushed = 0;
  const approve = (change: FakeChange) => gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
  return {
    ...world,
    // The service may be started again: each reading gives those of the one that runs.
    get api() {
      return world.api;
    },
    get service() {
      return world.service;
    },
    get observer() {
      return world.observer;
    },
    gerrit,
    get ssh() {
      if (ssh === undefined) throw new Error('this story has no stream');
      return ssh;
    },
    push(request = {}) {
      pushed += 1;
      const file = `file-${pushed}.txt`;
      return gerrit.push({
        project: 'acme/app',
        files: { [file]: `${file}\n` },
        message: `Change ${pushed}`,
        ...request,
      });
    },
    approve,
    async gate(change) {
      await approve(change);
      await world.observer.until(`${change.number} to enter the gate`, () =>
        world.live(named(change), 'gate'),
      );
    },
    leaves: (change, result, pipeline = 'gate') => world.left(named(change), result, pipeline),
    item: (change, pipeline = 'gate') => world.live(named(change), pipeline),
  };
}
