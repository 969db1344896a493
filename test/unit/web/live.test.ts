/** When the page shows what its feed brings. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LivePipeline } from '../../../src/api/live-view.ts';
import { Live } from '../../../src/web/page/live.ts';
import type { LiveUpdate, Take } from '../../../src/web/page/messages.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pipeline = (name: string, position: number) => ({ name, position }) as LivePipeline;
const message = (kind: LiveUpdate['kind'], ...pipelines: readonly LivePipeline[]): LiveUpdate => ({
  kind,
  set: Object.fromEntries(pipelines.map(each => [`pipeline/${each.name}`, each])),
  gone: [],
  now: 0,
});

function following() {
  let take: Take = () => {};
  const shown: { readonly changed: readonly string[] | null; readonly pipelines: readonly string[] }[] = [];
  const live = new Live(
    'tenant',
    (_, given) => {
      take = given;
      return () => {};
    },
    {
      onChange: changed =>
        void shown.push({
          changed: changed && [...changed],
          pipelines: live.pipelines().map(({ name }) => name),
        }),
      onConnection: () => {},
    },
  );
  return { live, shown, hear: (said: LiveUpdate) => take(said) };
}

test('what comes before a snapshot is shown is shown with it, and what comes after by itself', () => {
  const { shown, hear } = following();
  hear(message('snapshot', pipeline('gate', 1)));
  hear(message('update', pipeline('check', 0)));
  expect(shown).toEqual([]);
  vi.runAllTimers();
  expect(shown).toEqual([{ changed: null, pipelines: ['check', 'gate'] }]);
  hear(message('update', pipeline('post', 2)));
  expect(shown.slice(1)).toEqual([{ changed: ['pipeline/post'], pipelines: ['check', 'gate', 'post'] }]);
});

test('of two snapshots in a row the later one is shown, once', () => {
  const { shown, hear } = following();
  hear(message('snapshot', pipeline('gate', 1)));
  hear(message('snapshot', pipeline('check', 0)));
  vi.runAllTimers();
  expect(shown).toEqual([{ changed: null, pipelines: ['check'] }]);
});

test('a snapshot is not shown once the tenant is left', () => {
  const { live, shown, hear } = following();
  hear(message('snapshot', pipeline('gate', 1)));
  live.close();
  vi.runAllTimers();
  expect(shown).toEqual([]);
});
