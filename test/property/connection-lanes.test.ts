/**
 * For any order of a host's answers, any refusals, and any change of the connection's holder: every event is forwarded once, and
 * those of one lane in the order they came.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ProcessedEvent, ProcessedLater } from '../../src/driver/source.ts';
import type { ConnectionEvent } from '../../src/model/event.ts';
import {
  type FakeSource,
  NOTHING,
  openConnection,
  trigger,
} from '../unit/scheduler/events/connection-stand.ts';
import { eventually, openStand } from '../unit/scheduler/stand.ts';

const LANES = ['a', 'b', 'c', 'd'];

/** What happens next, while anything is left to happen. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('offer' as const), lane: fc.constantFrom(...LANES) }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('answer' as const), which: fc.nat(15) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('later' as const), which: fc.nat(15) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), which: fc.nat(15) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('take-over' as const) }) },
);

interface Question {
  readonly event: ConnectionEvent;
  readonly resolve: (outcome: ProcessedEvent | ProcessedLater) => void;
  readonly reject: (error: unknown) => void;
}

test('every event is handed on once, and those of one lane in their order', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 60 }),
      fc.boolean(),
      async (steps, together) => {
        await using stand = openStand();
        const connection = await openConnection(stand);
        const questions: Question[] = [];
        const laneOf = (event: ConnectionEvent) => event.deliveryId.slice(0, 1);
        const source: FakeSource = {
          lane: laneOf,
          ...(together ? { coalesceKey: laneOf } : {}),
          process: event => new Promise((resolve, reject) => void questions.push({ event, resolve, reject })),
        };
        const answer = ({ event, resolve }: Question) =>
          resolve({ ...NOTHING, events: [trigger(event, event.deliveryId)] });
        const offered: string[] = [];
        let session = stand.connect();
        let holder = await connection.hold(source, { session });

        for (const each of steps) {
          switch (each.kind) {
            case 'offer': {
              const id = `${each.lane}${String(offered.length).padStart(3, '0')}`;
              offered.push(id);
              await connection.offer(id);
              break;
            }
            case 'answer':
            case 'later':
            case 'fail': {
              const [question] = questions.splice(each.which % Math.max(1, questions.length), 1);
              if (question === undefined) break;
              if (each.kind === 'answer') answer(question);
              else if (each.kind === 'later')
                question.resolve({ later: { reason: 'timeout', text: 'slow' } });
              else question.reject(Object.assign(new Error('reset'), { retryable: true }));
              break;
            }
            case 'take-over':
              await session.close();
              await holder.loop.catch(() => {});
              session = stand.connect();
              holder = await connection.hold(source, { session });
          }
          await new Promise(setImmediate);
        }
        await eventually(async () => {
          for (const question of questions.splice(0)) answer(question);
          return (await connection.queue.depth()) === 0;
        }, 'all events are taken');

        const handedOn = (await connection.tenantQueue.list()).flatMap(({ value }) =>
          value.kind === 'trigger' ? [value.trigger.type] : [],
        );
        expect(new Set(handedOn).size).toBe(handedOn.length);
        for (const lane of LANES) {
          const of = (ids: readonly string[]) => ids.filter(id => id.startsWith(lane));
          expect(of(handedOn)).toEqual(of(handedOn).toSorted());
          if (!together) expect(of(handedOn)).toEqual(of(offered));
        }
        await holder.end();
        await session.close();
      },
    ),
    { numRuns: 300 },
  );
});
