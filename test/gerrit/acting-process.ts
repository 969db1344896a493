/** Reporter and landing of the Gerrit driver with their client and git, at a Gerrit that is given: the fake, or a real one. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGerritClient } from '../../drivers/gerrit/api/open-client.ts';
import { createGerritLanding } from '../../drivers/gerrit/landing/gerrit-landing.ts';
import { createGerritReporter } from '../../drivers/gerrit/reporting/gerrit-reporter.ts';
import { createOwnAccount } from '../../drivers/gerrit/reporting/own-account.ts';
import type { LandingOutcome, LandingRequest } from '../../src/driver/landing.ts';
import type { ReporterOutcome } from '../../src/driver/reporter.ts';
import { parseObjectId } from '../../src/git/objects/object-id.ts';
import { parseRefName } from '../../src/git/objects/ref-name.ts';
import { createGit } from '../../src/git/process/git.ts';
import { openRepositoryCache } from '../../src/git/repository-cache.ts';
import { startAside } from '../../src/git/starter/start-aside.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Secret } from '../../src/lib/secret.ts';
import { changeKey, type ProposedChange } from '../../src/model/change.ts';
import type { Json } from '../../src/model/job.ts';
import { parseCommitId, projectKey } from '../../src/model/project.ts';
import type { Report } from '../../src/model/report.ts';
import { sampleReport } from '../fake/report.ts';

export type GerritTested = NonNullable<LandingRequest['tested']>;

/** A process that holds the pipeline. */
export interface GerritActor {
  land(
    change: ProposedChange,
    tested: GerritTested | undefined,
    item?: readonly ProposedChange[],
  ): Promise<LandingOutcome>;
  report(change: ProposedChange, parts?: Partial<Report>, isFirst?: boolean): Promise<ReporterOutcome>;
}

/** A patch set of a change of the project. */
interface GivenPatchSet {
  readonly number: number;
  readonly branch: string;
  readonly patchset: number;
  readonly commit: string;
  readonly ref: string;
}

export interface ActingProcesses {
  changeOf(given: GivenPatchSet): ProposedChange;
  /** What a merger makes of them, one behind the other, from the tip of master on. */
  gate(changes: readonly ProposedChange[]): Promise<readonly GerritTested[]>;
  startProcess(config?: Json): GerritActor;
}

/** @param stack what is opened ends with it. */
export async function openActingProcesses(
  place: {
    readonly url: string;
    /** Name of the project. */
    readonly project: string;
    readonly user: string;
    readonly password: string;
    /** Of client and landing, in milliseconds. */
    readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  },
  stack: AsyncDisposableStack,
): Promise<ActingProcesses> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-gerrit-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const git = createGit({
    identity: { name: 'Gatehouse', email: 'gatehouse@example.org' },
    start: startAside,
  });
  const cache = stack.use(await openRepositoryCache({ root: folder, git }));
  const mirror = await cache.repository('gerrit', place.project);
  const project = projectKey({ connection: 'gerrit', name: place.project });
  const remote = { url: `${place.url}/${place.project}` };

  function startProcess(config: Json = { submit: true, Verified: 2 }): GerritActor {
    const clock = systemClock();
    const client = openGerritClient(
      {
        baseUrl: place.url,
        auth: { kind: 'basic', user: place.user, password: new Secret(place.password) },
        verifySsl: true,
        concurrency: 4,
      },
      {
        connection: 'gerrit',
        clock,
        pause: place.wait,
        noted: () => {},
        asked: () => {},
        random: () => 0,
      },
    );
    stack.defer(() => client.close());
    const log = { debug() {}, info() {}, warn() {} };
    const deps = { api: client.api, log, ourselves: createOwnAccount(client.api), answered: () => {} };
    const reporter = createGerritReporter(deps);
    const landing = createGerritLanding({
      ...deps,
      clock,
      git: { open: async () => mirror, remoteOf: async () => remote },
      wait: place.wait,
    });
    const signal = AbortSignal.timeout(60_000);
    return {
      async land(change, tested, item = [change]) {
        const report = sampleReport({ changes: item });
        const request = { config, change, report, ...(tested === undefined ? {} : { tested }) };
        const { steps: _, ...outcome } = await landing.land(request, signal, () => true);
        return outcome;
      },
      async report(change, parts = {}, isFirst = true) {
        const report = sampleReport({ changes: [change], ...parts });
        const earlier = isFirst ? { earlier: { kind: 'none' } as const } : {};
        const { steps: _, ...outcome } = await reporter.report(
          { config, change, report, ...earlier },
          signal,
        );
        return outcome;
      },
    };
  }

  return {
    startProcess,
    changeOf: ({ number, branch, patchset, commit, ref }) => ({
      ...{ kind: 'change', key: changeKey(project, String(number)), project, branch },
      ...{ id: String(number), patchset: String(patchset), commit: parseCommitId(commit), ref },
      subject: 'A change',
    }),
    async gate(changes) {
      const wants = changes.map(({ ref, commit }) => ({
        ref: parseRefName(ref),
        commit: parseObjectId(commit),
      }));
      const fetched = await mirror.fetch(remote, [{ ref: parseRefName('refs/heads/master') }, ...wants]);
      const base = fetched.kind === 'fetched' ? fetched.commits[0] : undefined;
      if (base === undefined) throw new Error(`nothing fetched: ${JSON.stringify(fetched)}`);
      const inputs = wants.map(({ commit }) => ({
        change: commit,
        message: 'Merge\n',
        mode: 'merge' as const,
      }));
      const merged = await mirror.chain.merge(base, inputs);
      if (merged.kind !== 'merged') throw new Error('the changes conflict');
      const commits = [base, ...merged.links.map(({ commit }) => commit)];
      const trees = await Promise.all(commits.map(async each => (await mirror.reader.commit(each)).tree));
      return changes.map((_, at) => ({
        base: parseCommitId(base),
        before: parseCommitId(commits[at] ?? base),
        beforeTree: trees[at] ?? null,
        commit: parseCommitId(commits[at + 1] ?? base),
        tree: trees[at + 1] ?? '',
      }));
    },
  };
}
