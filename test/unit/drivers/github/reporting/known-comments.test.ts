/** When a pipeline's first comment on a pull request is written without a list of the others, and that it stays the only one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createGithubReporter,
  createReportMemories,
} from '../../../../../drivers/github/reporting/github-reporter.ts';
import type { ReporterWords } from '../../../../../drivers/github/reporting/report-context.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import { derivedUuid } from '../../../../../src/lib/ids.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { sampleReport } from '../../../../fake/report.ts';
import { pullChange } from '../change.ts';
import { createPortWorld, type Mishap } from '../port-world.ts';

const change = pullChange();
const OURS = 'gatehouse[bot]';
const quiet = { debug() {}, info() {}, warn() {} };

/** GitHub, and two processes of which one holds both pipelines. What is read, both get. */
function openStand() {
  const world = createPortWorld();
  let [time, items] = [1_000_000, 0];
  let next: Mishap | undefined;
  world.mishap = () => {
    const mishap = next;
    next = undefined;
    return mishap;
  };
  const clock = { now: () => fromMilliseconds(time++) };
  const startProcess = () => {
    const memories = createReportMemories(clock);
    const deps = {
      api: world.api,
      log: quiet,
      wordsOf: (config: Json) => config as unknown as ReporterWords,
    };
    return { memories, reporter: createGithubReporter(deps, memories) };
  };
  let [holder, other] = [startProcess(), startProcess()];
  let since = clock.now();
  /** The other process takes the pipelines, and keeps what it knows. */
  const takeOver = () => {
    [holder, other] = [other, holder];
    since = clock.now();
  };

  /** As a query with the last so many comments shows it. */
  function read(most = 100): void {
    const begunAt = clock.now();
    const shown = world.comments.slice(-most);
    const ids = shown.flatMap(({ user, node_id }) => (user.login === OURS ? [node_id ?? ''] : []));
    const ours = shown.length < world.comments.length ? null : ids;
    for (const { memories } of [holder, other])
      memories.known.read({ repository: 'acme/app', pull: Number(change.id), begunAt, ours });
  }

  /** The first report of an item, repeated until GitHub has it, unless it is given up. @returns the requests. */
  async function report(
    pipeline = 'gate',
    mishap?: Mishap,
    isFirst = true,
    isGivenUp = false,
  ): Promise<readonly string[]> {
    items += 1;
    next = mishap;
    const sample = sampleReport({ changes: [change] });
    const ofItem = {
      ...sample,
      item: derivedUuid('item', String(items)),
      place: { ...sample.place, pipeline },
    };
    const request = { config: {} as Json, change, report: ofItem };
    const from = world.requests.length;
    for (let tries = 0; tries < 5; tries++) {
      const alone = isFirst && tries === 0 ? { earlier: { kind: 'none' } as const, aloneSince: since } : {};
      const outcome = await holder.reporter
        .report({ ...request, ...alone }, AbortSignal.timeout(5_000))
        .catch(() => {
          holder = startProcess();
          takeOver();
          return { kind: 'later' };
        });
      if (outcome.kind === 'done' || isGivenUp)
        return world.requests.slice(from).map(({ operation }) => operation);
    }
    throw new Error('GitHub did not take the report');
  }

  const comment = (login: string, body: string) => {
    const id = 10_000 + world.comments.length;
    world.comments.push({ id, node_id: `IC_${id}`, body, user: { login } });
  };
  return {
    world,
    read,
    report,
    comment,
    takeOver,
  };
}

const CREATED = ['issues/create-comment'];
const LOOKED = ['issues/list-comments', 'issues/create-comment'];

describe("a pipeline's first comment on a pull request", () => {
  test('is written without a list of the others when a reading has shown that there is none', async () => {
    const { read, report, comment } = openStand();
    comment('eve', 'hello');
    read();
    expect(await report('check')).toEqual(CREATED);
    read();
    // The comment of the other pipeline is known by its id.
    expect(await report('gate')).toEqual(CREATED);
  });

  test.each<[string, (stand: ReturnType<typeof openStand>) => void]>([
    ['nothing was read', () => {}],
    [
      'it was read before this process took the pipeline',
      ({ read, takeOver }) => {
        read();
        takeOver();
      },
    ],
    [
      'there is one of ours that is not known',
      ({ read, comment }) => {
        comment(OURS, 'who knows');
        read();
      },
    ],
    [
      'there are more than were read',
      ({ read, comment }) => {
        for (const text of ['one', 'two']) comment('eve', text);
        read(1);
      },
    ],
  ])('is looked for when %s', async (_when, prepare) => {
    const stand = openStand();
    prepare(stand);
    expect(await stand.report()).toEqual(LOOKED);
  });

  test('is looked for by a report that may have been tried before', async () => {
    const { read, report } = openStand();
    read();
    expect(await report('gate', undefined, false)).toEqual(LOOKED);
  });

  test('is looked for when one was sent since the reading, and what came of it is not known', async () => {
    const { world, read, report } = openStand();
    read();
    expect(await report('gate', 'lost-done', true, true)).toEqual(CREATED);
    expect(await report('gate')).toEqual(['issues/list-comments', 'issues/update-comment']);
    expect(world.comments).toHaveLength(1);
  });

  test('is looked for by a process that has the pipeline back, and read before another had it', async () => {
    const { world, read, report, takeOver } = openStand();
    read();
    takeOver();
    expect(await report()).toEqual(LOOKED);
    takeOver();
    expect(await report()).toEqual(['issues/list-comments', 'issues/update-comment']);
    expect(world.comments).toHaveLength(1);
  });

  test('is looked for once when another process wrote that of another pipeline', async () => {
    const { read, report, takeOver } = openStand();
    read();
    await report('check');
    takeOver();
    read();
    expect(await report('gate')).toEqual(LOOKED);
  });

  test('stays the only one through readings, losses and takeovers in between', async () => {
    const step = fc.oneof(
      fc.constant({ kind: 'read' } as const),
      fc.constant({ kind: 'take-over' } as const),
      fc.record({
        kind: fc.constant('report' as const),
        pipeline: fc.constantFrom('check', 'gate'),
        isGivenUp: fc.boolean(),
        mishap: fc.constantFrom(undefined, 'dies-before', 'dies-after', 'lost-done', 'lost-undone'),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async steps => {
        const stand = openStand();
        for (const each of steps) {
          if (each.kind === 'read') stand.read();
          else if (each.kind === 'take-over') stand.takeOver();
          else await stand.report(each.pipeline, each.mishap, true, each.isGivenUp);
        }
        const places = stand.world.comments.map(({ body }) => body.split('\n', 1)[0]);
        expect(new Set(places).size).toBe(places.length);
      }),
      { numRuns: 300 },
    );
  });
});
