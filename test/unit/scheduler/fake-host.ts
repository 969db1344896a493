/**
 * A code host with one project and its configuration, in memory, used through a {@link Connection} like any other: refs
 * move by compare-and-set, a landing that is there is found, a note that is there is not written twice.
 */
import { expect } from 'vitest';
import type { Connection } from '../../../src/driver/connection.ts';
import type { LandingOutcome, LandingRequest } from '../../../src/driver/landing.ts';
import { derivedUuid, spanIdOf, traceIdOf } from '../../../src/lib/ids.ts';
import type { ChangeKey, ChangeRecord } from '../../../src/model/change.ts';
import { changeKey } from '../../../src/model/change.ts';
import type { EarlierReports } from '../../../src/model/earlier-reports.ts';
import type { ConnectionEvent, TriggerEvent } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/job.ts';
import type { BranchConfig, MergeRequest, MergerOutcome, MergerRequest } from '../../../src/model/merge.ts';
import { type CommitId, type ProjectKey, parseCommitId, projectKey } from '../../../src/model/project.ts';

export const CONFIG = projectKey({ connection: 'local', name: 'acme/config' });
export const APP = projectKey({ connection: 'local', name: 'acme/app' });

type Effect =
  | { readonly kind: 'land'; readonly commit: CommitId; readonly by: string }
  | { readonly kind: 'note'; readonly text: string; readonly by: string };

export interface FakeHost {
  /** What really happened, in order. */
  readonly effects: Effect[];
  /** Calls of reporters, in order; `what`: the action, or `progress`. */
  readonly reported: {
    readonly by: string;
    readonly what: string;
    readonly earlier: EarlierReports | undefined;
  }[];
  /** What reporters return with each report; undefined: nothing. */
  memory: Json | undefined;
  /** How often a merger was asked what. */
  readonly asked: string[];
  /** zuul.yaml of the config project; changing it is a push. */
  layout: string;
  tip: CommitId;
  /** Called before and after each effect, by whom. */
  before: (by: string) => Promise<void> | void;
  after: (by: string) => Promise<void> | void;
  open(id: string): ChangeRecord;
  /** As one process sees it. */
  connection(by: string): Connection;
  answer(request: MergerRequest): MergerOutcome;
  /** Listeners that listen now, by process. */
  readonly listening: Set<string>;
}

export function commit(seed: string): CommitId {
  return parseCommitId(derivedUuid('commit', seed).padEnd(40, '0'));
}

export function createFakeHost(layout: string): FakeHost {
  const changes = new Map<ChangeKey, ChangeRecord>();
  const landed = new Set<CommitId>();
  const notes = new Set<string>();
  const steps: readonly [] = [];

  function land({ change, tested }: LandingRequest, by: string): LandingOutcome {
    if (tested === undefined) return { kind: 'refused', text: 'nothing was tested' };
    const { project, branch = 'master' } = change;
    const done: LandingOutcome = {
      kind: 'landed',
      landed: [{ project, branch, commit: tested.commit, tree: tested.tree }],
    };
    if (landed.has(tested.commit)) return done;
    if (host.tip !== tested.before) return { kind: 'base-moved', text: `master is at ${host.tip}` };
    host.tip = tested.commit;
    landed.add(tested.commit);
    host.effects.push({ kind: 'land', commit: tested.commit, by });
    return done;
  }

  function merged(request: MergeRequest): MergerOutcome {
    const all = request.inputs;
    const upTo = (length: number) =>
      all.slice(0, length).reduce((base, input) => commit(`${base}+${input.commit}`), host.tip);
    const own = all.length - request.own;
    return {
      kind: 'merged',
      branches: [
        {
          project: APP,
          branch: 'master',
          base: host.tip,
          commit: upTo(all.length),
          tree: upTo(all.length),
          before: upTo(own),
          beforeTree: null,
        },
      ],
      filesChanged: [{ project: APP, files: ['a.txt'] }],
      config: [],
      heads: [{ project: CONFIG, branch: 'master', commit: commit(host.layout) }],
      steps,
      worker: 'merger',
    };
  }

  function configOf(project: ProjectKey): BranchConfig {
    const files = project === CONFIG ? [{ path: 'zuul.yaml', text: host.layout }] : [];
    return { project, branch: 'master', commit: commit(project === CONFIG ? host.layout : 'app'), files };
  }

  function process(event: ConnectionEvent): readonly TriggerEvent[] {
    const payload = event.payload as { readonly id?: string; readonly config?: boolean };
    const common = {
      uuid: derivedUuid(event.uuid, 'trigger'),
      connection: 'local',
      driver: 'git',
      branch: 'master',
      ref: null,
      facts: {},
      branchesChanged: false,
      receivedAt: event.receivedAt,
      sampled: event.sampled,
      span: { traceId: traceIdOf(event.uuid), spanId: spanIdOf(event.uuid) },
    };
    if (payload.config === true) {
      const newCommit = commit(host.layout);
      return [
        {
          ...common,
          type: 'ref-updated',
          project: CONFIG,
          change: {
            kind: 'ref',
            key: changeKey(CONFIG, newCommit),
            project: CONFIG,
            ref: 'refs/heads/master',
            branch: 'master',
            oldCommit: null,
            newCommit,
          },
          configMayHaveChanged: ['master'],
        },
      ];
    }
    const { change } = host.open(payload.id ?? '');
    return [{ ...common, type: 'approved', project: APP, change, configMayHaveChanged: [] }];
  }

  const host: FakeHost = {
    effects: [],
    reported: [],
    memory: undefined,
    asked: [],
    layout,
    tip: commit('first'),
    before: () => {},
    after: () => {},
    listening: new Set(),
    open(id) {
      const key = changeKey(APP, `master/${id}`);
      const known = changes.get(key);
      if (known !== undefined) return known;
      const record: ChangeRecord = {
        change: {
          kind: 'change',
          key,
          project: APP,
          branch: 'master',
          id: `master/${id}`,
          patchset: commit(id),
          commit: commit(id),
          ref: `refs/heads/for/master/${id}`,
          subject: id,
        },
        status: 'open',
        dependsOn: [],
        unresolvedDependencies: [],
        facts: { approved: true },
        fetchedAt: '1795000000000000000' as ChangeRecord['fetchedAt'],
      };
      changes.set(key, record);
      return record;
    },
    connection: by => ({
      name: 'local',
      driver: 'git',
      canonicalHostname: 'host.example',
      remote: async project => ({ url: `/${project}` }),
      publicUrl: () => undefined,
      source: {
        async process(event) {
          const events = process(event);
          const records = events.flatMap(({ change }) => changes.get(change.key) ?? []);
          return { events, changes: records, updated: [], memory: [], refusals: [] };
        },
        fetchChange: async key => changes.get(key),
        changeOfUrl: async () => undefined,
        branches: async project => [{ branch: 'master', commit: configOf(project).commit }],
        mergeMessage: change => `Merge ${change.key}`,
      },
      listener: {
        listen: ({ signal }) =>
          new Promise(resolve => {
            host.listening.add(by);
            signal.addEventListener('abort', () => {
              host.listening.delete(by);
              resolve();
            });
          }),
      },
      reporter: {
        async report({ report, earlier }, _signal, mayAct = () => true) {
          await host.before(by);
          host.reported.push({ by, what: report.action, earlier });
          if (!mayAct()) throw new Error('may not act');
          const text = `${report.action} ${report.item ?? ''}`;
          if (!notes.has(text)) {
            notes.add(text);
            host.effects.push({ kind: 'note', text, by });
          }
          await host.after(by);
          return { kind: 'done', ...(host.memory === undefined ? {} : { memory: host.memory }) };
        },
        async progress({ earlier }) {
          host.reported.push({ by, what: 'progress', earlier });
          return { kind: 'done' };
        },
      },
      landing: {
        async land(request, _signal, mayAct) {
          await host.before(by);
          if (!mayAct()) throw new Error('may not act');
          const outcome = land(request, by);
          await host.after(by);
          return outcome;
        },
        landed: async ({ tested }) =>
          expect.unreachable(`the host was asked whether ${tested?.commit} has landed`),
      },
      close: async () => {},
    }),
    answer(request) {
      host.asked.push(request.kind);
      switch (request.kind) {
        case 'merge':
          return merged(request);
        case 'config-files':
          return { kind: 'config-files', branches: [configOf(request.project)], steps, worker: 'merger' };
        case 'repo-state':
          return {
            kind: 'repo-state',
            heads: request.states.map(({ project }) => ({
              project,
              branch: 'master',
              commit: configOf(project).commit,
            })),
            steps,
            worker: 'merger',
          };
      }
    },
  };
  return host;
}
