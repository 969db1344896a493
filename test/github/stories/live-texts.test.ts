/** What a check run says while it runs: place, jobs and when it will probably be done; and never again once it has ended. */
import { expect } from 'vitest';
import { addMilliseconds, type Clock, systemClock } from '../../../src/lib/clock.ts';
import { githubStory } from './github-world.ts';

/** Waits of a minute take three seconds; times of day are those of the machine, and as far ahead as the story says. */
function fastClock(): Clock & { ahead(ms: number): void } {
  const real = systemClock();
  let offset = 0;
  return {
    now: () => addMilliseconds(real.now(), offset),
    monotonic: () => 20 * real.monotonic(),
    ahead(ms) {
      offset += ms;
    },
  };
}

const clock = fastClock();

githubStory(
  'a check run says where its item is while it runs, and nothing after its result',
  { clock },
  async world => {
    const { github, app, observer } = world;
    const [first, second] = [await world.open(), await world.open()];
    await world.runs('unit: 1', 'unit: 2');
    // From these the usual duration is known.
    clock.ahead(10 * 60_000);
    world.release(/./);
    for (const pull of [first, second]) await world.leaves(pull, 'SUCCESS', 'check');
    await github.review(app, first, 'bob', 'APPROVED');
    await world.runs('unit: 1');
    await github.review(app, second, 'bob', 'APPROVED');
    await world.runs('unit: 1', 'unit: 1 2');
    const runOf = ({ now: { head } }: typeof first) =>
      app.checks.find(({ headSha, name }) => headSha === head && name.endsWith('/gate'));
    const says = (pull: typeof first, text: RegExp) =>
      observer.until(`a check run to say ${text}`, () => text.test(runOf(pull)?.output.title ?? ''));
    await says(first, /^Running unit; done about \d\d:\d\d UTC$/);
    await says(second, /^1 ahead; running unit; done about \d\d:\d\d UTC$/);
    expect(runOf(second)).toMatchObject({ status: 'in_progress', conclusion: null });
    expect(runOf(second)?.output.summary).toMatch(
      /It is at place 2 of its queue: 1 ahead\. .*Running: unit\./,
    );

    world.release(/^unit: 1$/);
    await world.leaves(first, 'SUCCESS');
    await says(second, /^Running unit; /);
    world.release(/./);
    const left = await world.leaves(second, 'SUCCESS');
    for (const pull of [first, second]) {
      expect(runOf(pull)).toMatchObject({ status: 'completed', conclusion: 'success' });
      const writes = github.requests.filter(
        ({ operation, path }) => operation === 'checks/update' && path.endsWith(`/${runOf(pull)?.id}`),
      );
      expect(writes.length).toBeGreaterThan(1);
      const isEnd = ({ body }: (typeof writes)[number]) => JSON.stringify(body).includes('"completed"');
      expect(writes.map(isEnd)).toEqual(writes.map((_, index) => index === writes.length - 1));
    }

    const texts = () =>
      world.sink.spans.filter(
        ({ attributes }) =>
          attributes['gatehouse.span.type'] === 'HostProgress' &&
          attributes['gatehouse.item.id'] === left.uuid,
      );
    await observer.until('the spans of both texts', () => texts().length >= 2);
    for (const { attributes, traceId, links } of texts()) {
      expect(attributes).toMatchObject({
        'gatehouse.report.outcome': 'done',
        'gatehouse.link.follows': left.uuid,
        'vcs.change.id': String(second.number),
      });
      expect(links).toMatchObject([{ traceId: left.uuid }]);
      const requests = world.sink.spans.filter(
        span => span.traceId === traceId && span.parentSpanId !== null,
      );
      expect(requests.map(({ name }) => name)).toEqual([expect.stringMatching(/^HostQuery checks\/update /)]);
    }
  },
);
