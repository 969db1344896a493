/**
 * Reporter and landing of the driver, with its client, against the fake GitHub: one repository, one open pull request, and the
 * merge of it as a merger would have tested it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openClient } from '../../drivers/github/api/open-client.ts';
import { createGithubLanding } from '../../drivers/github/landing/github-landing.ts';
import {
  createGithubReporter,
  createReportMemories,
} from '../../drivers/github/reporting/github-reporter.ts';
import type { ReporterWords } from '../../drivers/github/reporting/report-context.ts';
import type { Landing, LandingOutcome, LandingRequest } from '../../src/driver/landing.ts';
import type { Reporter, ReporterOutcome } from '../../src/driver/reporter.ts';
import { parseObjectId } from '../../src/git/objects/object-id.ts';
import { parseRefName } from '../../src/git/objects/ref-name.ts';
import { createGit } from '../../src/git/process/git.ts';
import { openRepositoryCache } from '../../src/git/repository-cache.ts';
import { startAside } from '../../src/git/starter/start-aside.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { pause } from '../../src/lib/pause.ts';
import { Secret } from '../../src/lib/secret.ts';
import { changeKey, type ProposedChange } from '../../src/model/change.ts';
import type { Json } from '../../src/model/job.ts';
import type { LandingMode } from '../../src/model/landed.ts';
import type { MergeMode } from '../../src/model/merge-mode.ts';
import { type ProjectKey, parseCommitId, projectKey } from '../../src/model/project.ts';
import type { Report } from '../../src/model/report.ts';
import { sampleReport } from '../fake/report.ts';
import { type FakeGithub, startFakeGithub } from './fake/fake-github.ts';
import type { Pull, Repository } from './fake/world.ts';

export interface ActingStand extends AsyncDisposable {
  readonly github: FakeGithub;
  readonly repository: Repository;
  readonly pull: Pull;
  readonly change: ProposedChange;
  /** As a merger makes it on the branch as it is now. */
  merge(mode?: MergeMode): Promise<NonNullable<LandingRequest['tested']>>;
  /** A scheduler that has just started; it remembers nothing of others. */
  startProcess(mode?: LandingMode): ActingProcess;
  /** Branches of the repository, by name. */
  branches(): Promise<Readonly<Record<string, string>>>;
}

interface ActingProcess {
  land(
    words: ReporterWords,
    tested: LandingRequest['tested'],
    mayAct?: () => boolean,
  ): Promise<LandingOutcome>;
  landed: (tested: LandingRequest['tested']) => ReturnType<Landing['landed']>;
  report(words: ReporterWords, report?: Partial<Report>): Promise<ReporterOutcome>;
  /** @param memory of the item's earlier report; absent: the process knows it or nothing. */
  progress(
    words: ReporterWords,
    report: Partial<Report>,
    memory?: Json,
  ): Promise<ReporterOutcome | undefined>;
}

const MESSAGE = 'Merge pull request #1\n\nAdd a\n';

export async function openActingStand(): Promise<ActingStand> {
  const stack = new AsyncDisposableStack();
  const github = stack.use(await startFakeGithub());
  const repository = await github.repository('acme/app');
  await github.install('acme');
  const pull = await github.openPull(repository, { files: { 'a.txt': 'a\n' }, title: 'Add a' });
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-github-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const git = createGit({
    identity: { name: 'Gatehouse', email: 'gatehouse@example.org' },
    start: startAside,
  });
  const cache = stack.use(await openRepositoryCache({ root: folder, git }));
  const project = projectKey({ connection: 'github', name: 'acme/app' });
  const change = changeOf(project, pull);
  const mirror = await cache.repository('github', 'acme/app');
  const remote = { url: `${github.url}/acme/app.git` };

  async function merge(mode: MergeMode = 'merge'): Promise<NonNullable<LandingRequest['tested']>> {
    const [head, branch] = [parseObjectId(pull.now.head), parseRefName('refs/heads/main')];
    const headers = [basic(github.token('acme'))];
    const fetched = await mirror.fetch({ ...remote, headers }, [
      { ref: branch },
      { ref: parseRefName(change.ref), commit: head },
    ]);
    const base = fetched.kind === 'fetched' ? fetched.commits[0] : undefined;
    if (base === undefined) throw new Error(`nothing fetched: ${JSON.stringify(fetched)}`);
    const merged = await mirror.chain.merge(base, [{ change: head, message: MESSAGE, mode }]);
    const link = merged.kind === 'merged' ? merged.links[0] : undefined;
    if (link === undefined) throw new Error('the change conflicts');
    const treeOf = async (commit: typeof base) => (await mirror.reader.commit(commit)).tree;
    const before = parseCommitId(base);
    const trees = { tree: await treeOf(link.commit), beforeTree: await treeOf(base) };
    const inputs = [{ ref: change.ref, commit: change.commit, message: MESSAGE, mode }];
    return { base: before, before, commit: parseCommitId(link.commit), ...trees, inputs };
  }

  function startProcess(mode: LandingMode = 'push'): ActingProcess {
    const clock = systemClock();
    const client = openClient(
      {
        connection: 'github',
        apiUrl: github.apiUrl,
        identification: { kind: 'app', id: github.app.id, key: new Secret(github.app.privateKey) },
        concurrency: 4,
      },
      { clock, pause, random: () => 0.5, warn: () => {}, asked: () => {}, noted: () => {} },
    );
    stack.defer(() => client.close());
    const signal = AbortSignal.timeout(20_000);
    const deps = {
      api: client.api,
      log: { debug() {}, info() {}, warn() {} },
      wordsOf: (config: Json) => config as unknown as ReporterWords,
    };
    const memories = createReportMemories(clock);
    const reporter: Reporter = createGithubReporter(deps, memories);
    const landing = createGithubLanding(
      {
        ...deps,
        clock,
        mode,
        git: {
          open: async () => mirror,
          async remoteOf(_, access) {
            const use = { kind: 'git', repository: 'acme/app', access } as const;
            const found = await client.credentials.find(use, {
              repository: 'acme/app',
              weight: 'final',
              signal,
            });
            if (found.kind !== 'credential') throw new Error(`no token: ${found.kind}`);
            return { ...remote, headers: [basic(found.token?.reveal() ?? '')] };
          },
        },
        messageOf: () => MESSAGE,
      },
      memories,
    );
    const about = (parts: Partial<Report> = {}) => sampleReport({ changes: [change], ...parts });
    return {
      async land(words, tested, mayAct = () => true) {
        const config = words as unknown as Json;
        const report = about();
        const request = { config, change, report, ...(tested === undefined ? {} : { tested }) };
        const { steps: _, ...outcome } = await landing.land(request, signal, mayAct);
        return outcome;
      },
      landed: tested =>
        landing.landed({ config: {}, change, ...(tested === undefined ? {} : { tested }) }, signal),
      async report(words, parts) {
        const config = words as unknown as Json;
        const {
          steps: _,
          memory: __,
          ...outcome
        } = await reporter.report({ config, change, report: about(parts) }, signal);
        return outcome;
      },
      async progress(words, parts, memory) {
        const config = words as unknown as Json;
        const earlier = memory === undefined ? {} : { earlier: { kind: 'remembered', memory } as const };
        const request = { config, change, report: about(parts), ...earlier };
        return reporter.progress?.(request, signal, () => true);
      },
    };
  }

  return {
    github,
    repository,
    pull,
    change,
    merge,
    startProcess,
    async branches() {
      const refs = await mirror.lsRemote({ ...remote, headers: [basic(github.token('acme'))] }, [
        'refs/heads/',
      ]);
      if (refs.kind !== 'refs') throw new Error(refs.message);
      return Object.fromEntries(
        [...refs.refs].map(([ref, commit]) => [ref.slice('refs/heads/'.length), commit]),
      );
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function changeOf(project: ProjectKey, { number, now }: Pull): ProposedChange {
  return {
    kind: 'change',
    key: changeKey(project, String(number)),
    project,
    branch: 'main',
    id: String(number),
    patchset: now.head,
    commit: parseCommitId(now.head),
    ref: `refs/pull/${number}/head`,
    subject: 'Add a',
  };
}

function basic(token: string): string {
  return `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
}
