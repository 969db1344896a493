/**
 * The whole service with the driver at a real Gerrit, on projects of its own: several, one after the other, share one Gerrit.
 *
 *     await using world = await openRealWorld(gerrit, 'wip');
 *     const change = await world.push({ subject: 'Log in' });       // of acme/wip-app
 *     await world.leaves(change, 'SUCCESS', 'check');
 */
import type { FinishedItem } from '../../../src/api/live-item.ts';
import {
  type HostedSetup,
  type HostedWorld,
  openHostedWorld,
  storyFolder,
} from '../../scenario/hosted-world.ts';
import { type GerritLayout, gerritLayout } from '../stories/gerrit-layout.ts';
import { askWell } from './account.ts';
import { connectionLines } from './connection-lines.ts';
import type { Deeds, PushedChange } from './deeds.ts';
import type { GerritOfTests } from './start-gerrit.ts';

type PushSpec = Parameters<Deeds['push']>[0];

export interface RealWorld extends Omit<HostedWorld, 'live' | 'left'> {
  /** alice pushes to the first project. */
  push(
    spec: Omit<PushSpec, 'by' | 'project'> & { readonly project?: 'app' | 'library' },
  ): Promise<PushedChange>;
  /** bob votes Code-Review +2 and Workflow +1. */
  approve(change: PushedChange): Promise<void>;
  leaves(change: PushedChange, result: string, pipeline?: string): Promise<FinishedItem>;
  isLive(change: PushedChange, pipeline?: string): boolean;
  /** `NEW`, `MERGED` or `ABANDONED`. */
  status(change: PushedChange): Promise<unknown>;
}

/** @param name one word, once per Gerrit. */
export async function openRealWorld(
  gerrit: GerritOfTests,
  name: string,
  setup: HostedSetup & { readonly layout?: (layout: GerritLayout) => string } = {},
): Promise<RealWorld> {
  const root = await storyFolder('gatehouse-gerrit-real-');
  const project = (last: string) => `acme/${name}-${last}`;
  const config = await gerrit.createProject(`org/${name}`);
  const projects = [
    await gerrit.createProject(project('app')),
    await gerrit.createProject(project('library')),
  ];
  const { world } = await openHostedWorld(root, setup, async stage => {
    await gerrit.pushBranch(gerrit.admin, config, {
      'zuul.yaml': (setup.layout ?? gerritLayout)({ projects }),
      'playbooks/job.sh': stage.playbook,
    });
    return {
      projects,
      configProject: config,
      driverLines: await connectionLines(gerrit, root),
      notify() {},
      settled: async () => {},
      carriedOut: async () => {},
      takeViolations: () => [],
      async [Symbol.asyncDispose]() {},
    };
  });
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
    push: ({ project: last = 'app', ...spec }) =>
      gerrit.push({ ...spec, by: gerrit.alice, project: project(last) }),
    approve: change => gerrit.vote(change, gerrit.bob, { 'Code-Review': 2, Workflow: 1 }),
    leaves: (change, result, pipeline = 'gate') => world.left(change, result, pipeline),
    isLive: (change, pipeline = 'gate') => world.live(change, pipeline) !== undefined,
    async status({ number }) {
      const info = await askWell(gerrit.ask, gerrit.ci, 'GET', `changes/${number}`);
      return typeof info === 'object' && info !== null && 'status' in info ? info.status : undefined;
    },
  };
}
