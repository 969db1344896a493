/**
 * Reporter and landing of the Gerrit driver with their client and git, on the fake: open changes of `acme/app`, tested one behind the
 * other as a gate tests them.
 */
import { pause } from '../../src/lib/pause.ts';
import type { ProposedChange } from '../../src/model/change.ts';
import type { Json } from '../../src/model/job.ts';
import { type GerritActor, type GerritTested, openActingProcesses } from './acting-process.ts';
import { type FakeGerrit, type FakeGerritOptions, startFakeGerrit } from './fake/fake-gerrit.ts';
import type { FakeSubmitType } from './fake/world.ts';
import { currentPatchSet, type FakeChange } from './fake/world.ts';

export interface GerritLandingStand extends AsyncDisposable {
  readonly gerrit: FakeGerrit;
  /** An approved change of `acme/app`, on the tip of master unless `on` names a change. */
  open(
    name: string,
    more?: { readonly on?: FakeChange; readonly topic?: string; readonly content?: string },
  ): Promise<FakeChange>;
  changeOf(change: FakeChange): ProposedChange;
  /** What a merger makes of them, one behind the other. */
  gate(changes: readonly FakeChange[]): Promise<readonly GerritTested[]>;
  startProcess(config?: Json): GerritActor;
}

export async function openGerritLandingStand(
  submitType: FakeSubmitType = 'MERGE_IF_NECESSARY',
  options: FakeGerritOptions = {},
): Promise<GerritLandingStand> {
  const stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startFakeGerrit(options));
  await gerrit.project('acme/app', { submitType });
  const processes = await openActingProcesses(
    {
      ...{ url: gerrit.url, project: 'acme/app', user: 'gatehouse', password: 'gatehouse-password' },
      wait: (_, signal) => pause(0, signal),
    },
    stack,
  );

  function changeOf({ number, now }: FakeChange): ProposedChange {
    const { commit, ref, number: patchset } = currentPatchSet(now);
    return processes.changeOf({ number, branch: now.branch, patchset, commit, ref });
  }

  return {
    gerrit,
    changeOf,
    gate: changes => processes.gate(changes.map(changeOf)),
    startProcess: processes.startProcess,
    async open(name, { on, topic, content = `${name}\n` } = {}) {
      const change = await gerrit.push({
        ...{ project: 'acme/app', files: { [name]: content }, message: `Add ${name}` },
        ...(on === undefined ? {} : { on }),
        ...(topic === undefined ? {} : { topic }),
      });
      await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
      return change;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
