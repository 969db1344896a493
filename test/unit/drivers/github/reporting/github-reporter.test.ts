/** What is written at GitHub for a report, and that repeating it writes nothing twice. */
import { describe, expect, test } from 'vitest';
import {
  createGithubReporter,
  createReportMemories,
} from '../../../../../drivers/github/reporting/github-reporter.ts';
import type { ReporterWords } from '../../../../../drivers/github/reporting/report-context.ts';
import type { Reporter, ReporterOutcome } from '../../../../../src/driver/reporter.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import { parseUuid } from '../../../../../src/lib/ids.ts';
import { changeKey, refUpdateKey } from '../../../../../src/model/change.ts';
import type { EarlierReports } from '../../../../../src/model/earlier-reports.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { parseCommitId } from '../../../../../src/model/project.ts';
import type { FileComment, Report } from '../../../../../src/model/report.ts';
import { sampleReport } from '../../../../fake/report.ts';
import { app, pullChange } from '../change.ts';
import { createPortWorld, Died, type Mishap, type PortWorld } from '../port-world.ts';

const change = pullChange();
const START = sampleReport({ action: 'start', result: '', headline: 'Starting gate jobs.' });
const SUCCESS = sampleReport();
const OTHER_ITEM = parseUuid('4f0c0000000000000000000000000002');
const FAILURE = sampleReport({ action: 'failure', result: 'FAILURE', headline: 'Build failed (gate).' });

const quiet = { debug() {}, info() {}, warn() {} };
const CLOCK = { now: () => fromMilliseconds(1_000_000) };
const wordsOf = (config: Json) => config as unknown as ReporterWords;

/** What the scheduler knows of the reports of one item, in any process, and hands to the next. */
class ItemReports {
  readonly #tried = new Set<string>();
  #memory: Json | undefined;
  before({ action }: Report): { readonly earlier?: EarlierReports } {
    const isFirst = this.#tried.size === 0;
    this.#tried.add(action);
    if (this.#memory !== undefined) return { earlier: { kind: 'remembered', memory: this.#memory } };
    return isFirst ? { earlier: { kind: 'none' } } : {};
  }
  after({ memory }: ReporterOutcome): void {
    this.#memory = memory ?? this.#memory;
  }
}

/** A process that reports; a new one remembers nothing but what it is given. @param known absent: nothing is handed on. */
function startProcess(world: PortWorld, known?: ItemReports) {
  const reporter = createGithubReporter({ api: world.api, log: quiet, wordsOf }, createReportMemories(CLOCK));
  return async (
    words: ReporterWords,
    report: Report,
    to: Parameters<typeof reporter.report>[0]['change'] = change,
  ): Promise<ReporterOutcome> => {
    const config = words as unknown as Json;
    const { memory, ...outcome } = await reporter.report(
      { config, change: to, report: { ...report, changes: [to] }, ...known?.before(report) },
      AbortSignal.timeout(5_000),
    );
    if (memory !== undefined) known?.after({ ...outcome, memory });
    return outcome;
  };
}

const CHECK = { begin: { check: 'in_progress', comment: false }, end: { check: 'success', comment: false } };
const DONE: ReporterOutcome = { kind: 'done' };

describe('a check run', () => {
  test('costs two requests from start to end, in two processes as in one', async () => {
    for (const isSame of [true, false]) {
      const world = createPortWorld();
      const known = new ItemReports();
      const first = startProcess(world, known);
      await first(CHECK.begin, START);
      await (isSame ? first : startProcess(world, known))(CHECK.end, SUCCESS);
      expect(world.requests.map(({ operation }) => operation)).toEqual(['checks/create', 'checks/update']);
      expect(world.runs).toMatchObject([{ conclusion: 'success' }]);
    }
  });

  test('is in progress from the start, with a link, an id and one action (case 40)', async () => {
    const world = createPortWorld();
    expect(await startProcess(world)(CHECK.begin, START)).toEqual(DONE);
    expect(world.runs).toMatchObject([
      {
        name: 'acme/gate',
        head_sha: change.commit,
        status: 'in_progress',
        external_id: 'acme/gate/4f0c0000000000000000000000000001',
        details_url: START.urls.item,
        actions: [{ identifier: 'dequeue' }],
      },
    ]);
  });

  test('is the one that is completed at the end, in one request (case 41)', async () => {
    const world = createPortWorld();
    const report = startProcess(world);
    await report(CHECK.begin, START);
    const before = world.requests.length;
    expect(await report(CHECK.end, SUCCESS)).toEqual(DONE);
    expect(world.requests.slice(before).map(({ operation }) => operation)).toEqual(['checks/update']);
    expect(world.runs).toMatchObject([
      { status: 'completed', conclusion: 'success', actions: [], output: { title: 'SUCCESS' } },
    ]);
  });

  test('is found again by a process that did not begin it', async () => {
    const world = createPortWorld();
    await startProcess(world)(CHECK.begin, START);
    await startProcess(world)({ check: 'failure', comment: false }, FAILURE);
    expect(world.runs).toMatchObject([{ conclusion: 'failure', output: { title: 'FAILURE' } }]);
  });

  test('of another item on the same commit is another run', async () => {
    const world = createPortWorld();
    const report = startProcess(world);
    await report(CHECK.end, SUCCESS);
    await report(CHECK.end, { ...SUCCESS, item: null });
    expect(world.runs.map(({ external_id }) => external_id)).toEqual([
      'acme/gate/refused',
      'acme/gate/4f0c0000000000000000000000000001',
    ]);
  });

  test('is looked for where what is remembered is of another form, or of another commit', async () => {
    for (const memory of [
      'run 7',
      { run: 7 },
      { run: { id: -7, commit: change.commit } },
      { run: { id: 7, commit: 'd'.repeat(40) } },
    ]) {
      const world = createPortWorld();
      const known = new ItemReports();
      known.after({ kind: 'done', memory });
      await startProcess(world, known)(CHECK.end, SUCCESS);
      expect(world.requests.map(({ operation }) => operation)).toEqual([
        'checks/list-for-ref',
        'checks/create',
      ]);
    }
  });

  test('is one of two of one name where two pull requests have one head; each ends its own', async () => {
    const world = createPortWorld();
    const stable = { ...change, key: changeKey(app, '13'), id: '13', branch: 'stable' };
    const other = { ...START, item: OTHER_ITEM };
    const known = [new ItemReports(), new ItemReports()] as const;
    await startProcess(world, known[0])(CHECK.begin, START);
    await startProcess(world, known[1])(CHECK.begin, other, stable);
    await startProcess(world, known[1])(CHECK.end, { ...SUCCESS, item: OTHER_ITEM }, stable);
    // Another scheduler, which has to look for it.
    await startProcess(world)({ check: 'failure', comment: false }, FAILURE);
    expect(
      world.runs.map(({ name, external_id, conclusion }) => [name, external_id, conclusion]).toReversed(),
    ).toEqual([
      ['acme/gate', `acme/gate/${START.item}`, 'failure'],
      ['acme/gate', `acme/gate/${OTHER_ITEM}`, 'success'],
    ]);
  });

  test('that is completed is not opened again by a start that comes late', async () => {
    for (const isSame of [true, false]) {
      const world = createPortWorld();
      const first = startProcess(world);
      await first(CHECK.end, SUCCESS);
      await (isSame ? first : startProcess(world))(CHECK.begin, START);
      expect(world.runs).toMatchObject([{ status: 'completed' }]);
    }
  });

  test('that was remembered and is gone is written anew', async () => {
    const world = createPortWorld();
    const report = startProcess(world);
    await report(CHECK.begin, START);
    world.runs.length = 0;
    await report(CHECK.end, SUCCESS);
    expect(world.runs).toMatchObject([{ conclusion: 'success' }]);
  });

  test('of a branch that was pushed is on the new tip; of a deleted branch there is none', async () => {
    const world = createPortWorld();
    const report = startProcess(world);
    const tip = parseCommitId('d'.repeat(40));
    const ref = 'refs/heads/main';
    const pushed = { kind: 'ref', project: app, ref, branch: 'main', oldCommit: null } as const;
    await report(
      { check: 'success', label: ['x'] },
      { ...SUCCESS, fileComments: remarks(1) },
      { ...pushed, key: refUpdateKey(app, ref, tip), newCommit: tip },
    );
    await report({ check: 'success' }, SUCCESS, {
      ...pushed,
      key: refUpdateKey(app, ref, null),
      newCommit: null,
    });
    expect(world.runs).toMatchObject([{ head_sha: tip, output: { annotations_count: 1 } }]);
    expect(world.writes()).toEqual(['checks/create']);
  });
});

describe('where an item is', () => {
  const PROGRESS = sampleReport({
    ...START,
    place: { ...START.place, queue: { name: 'integrated', entryPosition: 5 } },
    retests: ['the change ahead of it failed'],
    progress: {
      ahead: 2,
      position: 3,
      eta: fromMilliseconds(Date.UTC(2026, 0, 2, 16, 40)),
      running: ['unit', 'lint'],
    },
  });

  function openItem() {
    const world = createPortWorld();
    const known = new ItemReports();
    const start = () =>
      createGithubReporter({ api: world.api, log: quiet, wordsOf }, createReportMemories(CLOCK));
    const act = async (
      reporter: Reporter,
      kind: 'report' | 'progress',
      words: ReporterWords,
      report: Report,
    ) => {
      const request = { config: words as unknown as Json, change, report: { ...report, changes: [change] } };
      const signal = AbortSignal.timeout(5_000);
      const outcome = await reporter[kind]?.({ ...request, ...known.before(report) }, signal, () => true);
      if (outcome !== undefined) known.after(outcome);
      return outcome;
    };
    return { world, start, act, known };
  }

  test('is in title and text of its run, which stays as it is otherwise, written with the least weight', async () => {
    for (const isSame of [true, false]) {
      const { world, start, act } = openItem();
      const reporter = start();
      await act(reporter, 'report', CHECK.begin, START);
      const later = isSame ? reporter : start();
      for (let times = 0; times < 2; times++)
        expect(await act(later, 'progress', CHECK.begin, PROGRESS)).toMatchObject({ kind: 'done' });
      expect(world.requests.slice(1).map(({ operation, weight }) => [operation, weight])).toEqual([
        ['checks/update', 'live'],
      ]);
      expect(Object.keys(world.requests[1]?.parameters ?? {})).toEqual(['check_run_id', 'output']);
      const [run] = world.runs;
      expect(run).toMatchObject({ status: 'in_progress', actions: [{ identifier: 'dequeue' }] });
      expect(run?.output.title).toBe('2 ahead; running unit, lint; done about 16:40 UTC');
      expect(run?.output.summary).toContain('It is at place 3 of its queue: 2 ahead.');
      expect(run?.output.summary).toContain('- Tested again because the change ahead of it failed.');
      expect(run?.output.summary).not.toContain('It entered');
    }
  });

  test('changes no result, also when the text arrives behind it', async () => {
    const { world, start, act } = openItem();
    const [first, second] = [start(), start()];
    await act(first, 'report', CHECK.begin, START);
    await act(first, 'report', CHECK.end, SUCCESS);
    const ended = structuredClone(world.runs);
    await act(first, 'progress', CHECK.begin, PROGRESS);
    expect(world.runs).toEqual(ended);
    await act(second, 'progress', CHECK.begin, PROGRESS);
    expect(world.runs).toMatchObject([{ status: 'completed', conclusion: 'success' }]);
  });

  test('makes no run where there is none or it is not known, and asks for nothing', async () => {
    const { world, start, act, known } = openItem();
    const reporter = start();
    expect(await reporter.progress?.(requestOf(PROGRESS), AbortSignal.timeout(5_000), () => true)).toEqual({
      kind: 'done',
      // Not asked: so there is no trace of it.
      steps: [],
    });
    expect(world.requests).toEqual([]);
    await act(reporter, 'report', CHECK.begin, START);
    world.runs.length = 0;
    await act(start(), 'progress', CHECK.begin, PROGRESS);
    expect(world.runs).toEqual([]);
    expect(world.writes()).toEqual(['checks/create', 'checks/update']);
    // Its result finds that the run is gone.
    await startProcess(world, known)(CHECK.end, SUCCESS);
    expect(world.runs).toMatchObject([{ conclusion: 'success' }]);
  });

  test('whose text was lost is written with the next, and the result is written in any case', async () => {
    for (const mishap of ['lost-done', 'lost-undone'] as const) {
      const { world, start, act } = openItem();
      const reporter = start();
      await act(reporter, 'report', CHECK.begin, START);
      world.mishap = index => (index === 1 ? mishap : undefined);
      expect(await act(reporter, 'progress', CHECK.begin, PROGRESS)).toMatchObject({ kind: 'later' });
      await act(reporter, 'progress', CHECK.begin, PROGRESS);
      expect(world.runs).toMatchObject([{ output: { title: expect.stringContaining('2 ahead') } }]);
      await act(reporter, 'report', CHECK.end, SUCCESS);
      expect(world.runs).toMatchObject([{ status: 'completed', output: { title: 'SUCCESS' } }]);
    }
  });
});

function requestOf(report: Report) {
  return { config: CHECK.begin as unknown as Json, change, report: { ...report, changes: [change] } };
}

function remarks(count: number): readonly FileComment[] {
  return Array.from({ length: count }, (_, at) => ({
    project: app,
    branch: 'main',
    file: 'src/a.ts',
    line: at + 1,
    severity: 'error',
    text: `remark ${at}`,
  }));
}

describe('173 remarks', () => {
  const report = { ...FAILURE, fileComments: remarks(173) };
  const words = { check: 'failure', comment: false };

  test('are annotations in 4 requests of at most 50 (case 43)', async () => {
    const world = createPortWorld();
    world.files = Array.from({ length: 120 }, (_, at) => `src/${at}.ts`).concat('src/a.ts');
    expect(await startProcess(world)(words, report)).toEqual(DONE);
    expect(world.writes()).toEqual(['checks/create', 'checks/update', 'checks/update', 'checks/update']);
    const [run] = world.runs;
    expect(run).toMatchObject({ status: 'completed', conclusion: 'failure' });
    expect(world.annotations.get(run?.id ?? 0)).toHaveLength(173);
  });

  test('are there once each, wherever the process dies or an answer is lost', async () => {
    for (const mishap of MISHAPS) {
      for (const at of [0, 1, 2, 3, 4, 5, 6, 7]) {
        const world = createPortWorld();
        world.files = ['src/a.ts'];
        const known = at < 4 ? new ItemReports() : undefined;
        await untilDone(world, at % 4, mishap, next => next(words, report), known);
        const messages = world.annotations.get(world.runs[0]?.id ?? 0) as { message: string }[];
        expect(world.runs).toHaveLength(1);
        expect(new Set(messages.map(({ message }) => message)).size).toBe(173);
        expect(messages).toHaveLength(173);
      }
    }
  });
});

const MISHAPS: readonly Mishap[] = ['dies-before', 'dies-after', 'lost-done', 'lost-undone'];

const HANDED_ON = [() => undefined, () => new ItemReports()] as const;

/** Reports until it is done, with one mishap at a write; a process that died is replaced. */
async function untilDone(
  world: PortWorld,
  at: number,
  mishap: Mishap,
  act: (report: ReturnType<typeof startProcess>) => Promise<ReporterOutcome>,
  known?: ItemReports,
): Promise<void> {
  world.mishap = index => (index === at ? mishap : undefined);
  let report = startProcess(world, known);
  for (let tries = 0; tries < 4; tries++) {
    try {
      const outcome = await act(report);
      if (outcome.kind === 'done') return;
      expect(outcome.kind).toBe('later');
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      report = startProcess(world, known);
    }
  }
  expect.unreachable('the report is not done after four tries');
}

/** What people see, without ids. */
function seen({ runs, statuses, comments, labels, reviews }: PortWorld) {
  return {
    runs: runs.map(({ id: _, ...run }) => run),
    statuses,
    comments: comments.map(({ body }) => body),
    labels: [...labels].toSorted(),
    reviews,
  };
}

describe('a report of every part', () => {
  const begin: ReporterWords = { check: 'in_progress', status: 'pending', comment: true };
  const end: ReporterWords = {
    check: 'success',
    status: 'success',
    comment: true,
    label: ['landed'],
    unlabel: ['gate'],
    review: 'approve',
  };
  const bothReports = async (report: ReturnType<typeof startProcess>): Promise<ReporterOutcome> => {
    const begun = await report(begin, START);
    return begun.kind === 'done' ? report(end, SUCCESS) : begun;
  };

  async function undisturbed(): Promise<PortWorld> {
    const world = createPortWorld();
    world.labels.add('Gate');
    expect(await bothReports(startProcess(world))).toEqual(DONE);
    return world;
  }

  test('writes checks and statuses first, then one comment, labels and a review', async () => {
    const world = await undisturbed();
    expect(world.writes()).toEqual([
      ...['checks/create', 'repos/create-commit-status', 'issues/create-comment'],
      ...['checks/update', 'repos/create-commit-status', 'issues/update-comment'],
      ...['issues/add-labels', 'issues/remove-label', 'pulls/create-review'],
    ]);
    expect(world.comments).toHaveLength(1);
    expect(world.comments[0]?.body).toMatch(
      /^<!-- gatehouse acme\/gate -->\n<!-- .* -->\n\*\*Build succeeded/,
    );
    expect([...world.labels]).toEqual(['landed']);
    expect(world.statuses.at(-1)).toMatchObject({
      context: 'acme/gate',
      state: 'success',
      description: 'SUCCESS',
      target_url: SUCCESS.urls.item,
    });
    expect(world.reviews).toMatchObject([{ state: 'APPROVE' }]);
  });

  test('writes nothing when it is repeated', async () => {
    const world = await undisturbed();
    const before = world.writes().length;
    expect(await startProcess(world)(begin, START)).toEqual(DONE);
    expect(await startProcess(world)(end, SUCCESS)).toEqual(DONE);
    expect(world.writes().slice(before)).toEqual([]);
  });

  test('ends in the same state wherever the process dies or an answer is lost', async () => {
    const expected = seen(await undisturbed());
    const cases = MISHAPS.flatMap(mishap =>
      Array.from({ length: 9 }, (_, at) => HANDED_ON.map(open => ({ mishap, at, known: open() }))).flat(),
    );
    for (const { mishap, at, known } of cases) {
      const world = createPortWorld();
      world.labels.add('Gate');
      await untilDone(world, at, mishap, bothReports, known);
      expect(seen(world), `${mishap} at write ${at}, ${known === undefined ? 'no' : 'a'} memory`).toEqual(
        expected,
      );
    }
  });

  test('looks for nothing but comments where the item has no report yet, and afterwards for what has no id', async () => {
    const world = createPortWorld();
    const known = new ItemReports();
    await startProcess(world, known)(begin, START);
    const reads = () => world.requests.filter(({ isWrite }) => !isWrite).map(({ operation }) => operation);
    expect(reads()).toEqual(['issues/list-comments']);
    await startProcess(world, known)(end, SUCCESS);
    expect(reads().slice(1)).toEqual([
      'repos/get-combined-status-for-ref',
      'issues/list-labels-on-issue',
      'pulls/list-reviews',
    ]);
    expect(seen(world)).toMatchObject({ runs: [{ conclusion: 'success' }], comments: [{}] });
  });

  test('finds what is left of what it remembers', async () => {
    const world = createPortWorld();
    const known = new ItemReports();
    await startProcess(world, known)(begin, START);
    world.runs.length = 0;
    world.comments.length = 0;
    // Another item of the pull request has written the comment anew.
    await startProcess(world)(begin, { ...START, item: OTHER_ITEM });
    await startProcess(world, known)(end, SUCCESS);
    expect(world.comments).toHaveLength(1);
    expect(world.runs).toMatchObject([
      { status: 'completed', external_id: 'acme/gate/4f0c0000000000000000000000000001' },
      { status: 'in_progress' },
    ]);
  });
});

describe('a comment', () => {
  test('of another author or pipeline is not ours', async () => {
    const world = createPortWorld();
    const report = startProcess(world);
    await report({}, { ...SUCCESS, place: { ...SUCCESS.place, pipeline: 'check' } });
    world.comments.push({ id: 1, body: world.comments[0]?.body ?? '', user: { login: 'eve' } });
    await startProcess(world)({}, SUCCESS);
    expect(world.comments.map(({ user }) => user.login)).toEqual(['gatehouse[bot]', 'eve', 'gatehouse[bot]']);
  });

  test('is found behind hundreds of others', async () => {
    const world = createPortWorld();
    world.comments.push(
      ...Array.from({ length: 350 }, (_, id) => ({ id, body: 'hello', user: { login: 'eve' } })),
    );
    await startProcess(world)({}, START);
    await startProcess(world)({}, SUCCESS);
    expect(world.comments).toHaveLength(351);
  });

  test('that was deleted is written anew', async () => {
    const world = createPortWorld();
    const report = startProcess(world);
    await report({}, START);
    world.comments.length = 0;
    await report({}, SUCCESS);
    expect(world.comments).toHaveLength(1);
  });
});

describe('without the right to write check runs (case 48)', () => {
  const token = { login: 'bob', app: null, permissions: null };

  test('a token reports a status that says why', async () => {
    const world = createPortWorld();
    world.identity = token;
    expect(await startProcess(world)(CHECK.end, SUCCESS)).toEqual(DONE);
    expect(world.runs).toEqual([]);
    expect(world.statuses).toMatchObject([
      { state: 'success', context: 'acme/gate', description: 'SUCCESS (check runs need a GitHub App)' },
    ]);
  });

  test('an App reports a status that names the permission', async () => {
    for (const isKnown of [true, false]) {
      const world = createPortWorld();
      world.identity = { ...world.identity, permissions: isKnown ? { statuses: 'write' } : null };
      world.answer = ({ operation }) =>
        operation === 'checks/create' ? refused(403, 'Resource not accessible by integration') : undefined;
      await startProcess(world)(CHECK.begin, START);
      await startProcess(world)(CHECK.end, SUCCESS);
      expect(world.statuses.map(({ state, description }) => [state, description])).toEqual([
        ['pending', 'Starting gate jobs. (the App lacks the permission checks: write)'],
        ['success', 'SUCCESS (the App lacks the permission checks: write)'],
      ]);
    }
  });

  test('a comment takes the place of a status that is refused, too', async () => {
    const world = createPortWorld();
    world.identity = token;
    world.answer = ({ operation }) =>
      operation === 'repos/create-commit-status' ? refused(403, 'Forbidden') : undefined;
    expect(await startProcess(world)(CHECK.end, SUCCESS)).toEqual(DONE);
    expect(world.comments[0]?.body).toContain('No check run and no status: check runs need a GitHub App');
  });
});

function refused(status: number, text: string) {
  return { kind: 'refused', status, text, errors: [] } as const;
}

describe('a host that does not take a part', () => {
  test('for good gets the others, and the failure says what and why', async () => {
    const world = createPortWorld();
    world.answer = ({ operation }) =>
      operation === 'issues/add-labels' ? refused(422, 'Validation Failed') : undefined;
    expect(await startProcess(world)({ ...CHECK.end, comment: true, label: ['x'] }, SUCCESS)).toEqual({
      kind: 'failed',
      text: 'GitHub refused the labels: Validation Failed [422]',
    });
    expect([world.runs.length, world.comments.length]).toEqual([1, 1]);
  });

  test('now is asked again later, with its own time', async () => {
    const world = createPortWorld();
    const later = { reason: 'limited', text: 'secondary limit' } as const;
    world.answer = ({ operation }) => (operation === 'checks/create' ? { kind: 'later', later } : undefined);
    expect(await startProcess(world)({ check: 'success' }, SUCCESS)).toEqual({ kind: 'later', ...later });
    expect(world.comments).toEqual([]);
  });
});
