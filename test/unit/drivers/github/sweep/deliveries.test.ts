import { describe, expect, test } from 'vitest';
import {
  type DeliveryAttempt,
  deliveriesToRepeat,
  repeatFailedDeliveries,
} from '../../../../../drivers/github/sweep/deliveries.ts';

const attempt = (id: number, guid: string, status_code: number): DeliveryAttempt => ({
  id,
  guid,
  status_code,
});

describe('failed deliveries', () => {
  test('are repeated by their newest attempts, the oldest of these first', () => {
    const attempts = [attempt(9, 'b', 502), attempt(8, 'a', 503), attempt(7, 'b', 502)];
    expect(deliveriesToRepeat(attempts, new Map())).toEqual([8, 9]);
  });

  test('are not repeated once any attempt was answered, or was refused for good', () => {
    const attempts = [
      attempt(5, 'ok', 200),
      attempt(4, 'ok', 502),
      attempt(3, 'unsigned', 401),
      attempt(2, 'early', 404),
    ];
    expect(deliveriesToRepeat(attempts, new Map())).toEqual([2]);
  });

  test('are repeated three times by one process', () => {
    const counts = new Map<string, number>();
    const failures = (count: number) =>
      Array.from({ length: count }, (_, index) => attempt(count - index, 'a', 0));
    const asked = [1, 2, 3, 4, 5].map(count => deliveriesToRepeat(failures(count), counts));
    expect(asked).toEqual([[1], [2], [3], [], []]);
  });

  test('are not repeated again when the repetition is not among the failures', () => {
    const counts = new Map<string, number>();
    const asked = [1, 2, 3].map(() => deliveriesToRepeat([attempt(1, 'a', 502)], counts).length);
    expect(asked).toEqual([1, 0, 0]);
  });

  test('are repeated fifty at a time', () => {
    const attempts = Array.from({ length: 80 }, (_, index) => attempt(index, `guid ${index}`, 500));
    const counts = new Map<string, number>();
    expect(deliveriesToRepeat(attempts, counts)).toHaveLength(50);
  });

  test('make sweeps frequent, as does a host that does not list them', async () => {
    const call = { repository: 'acme/app', weight: 'event', signal: AbortSignal.timeout(5_000) } as const;
    const refused = {
      kind: 'refused',
      status: 404,
      text: 'only a GitHub App may ask this',
      errors: [],
    } as const;
    const asked: string[] = [];
    const api = {
      rest: async (operation: string) => {
        asked.push(operation);
        return refused;
      },
    };
    expect(await repeatFailedDeliveries(api, call, new Map())).toEqual({ repeated: 0, isFailing: true });
    expect(asked).toEqual(['apps/list-webhook-deliveries']);
  });

  test('are repeated from all pages of the list, the oldest first, and a thousand are looked at', async () => {
    const call = { repository: 'acme/app', weight: 'event', signal: AbortSignal.timeout(5_000) } as const;
    const page = (first: number) =>
      Array.from({ length: 100 }, (_, at) => attempt(first - at, `g${first - at}`, 502));
    const repeated: unknown[] = [];
    let pages = 2;
    let asked = 0;
    const api = {
      async rest(operation: string, _route: string, parameters: object) {
        const { cursor = '1000', delivery_id: id } = parameters as { cursor?: string; delivery_id?: number };
        if (operation === 'apps/redeliver-webhook-delivery') repeated.push(id);
        else asked += 1;
        const next = asked < pages ? { next: String(Number(cursor) - 100) } : {};
        const data = operation === 'apps/list-webhook-deliveries' ? page(Number(cursor)) : {};
        return { kind: 'ok', status: 200, data: data as never, ...next } as const;
      },
    };
    const counts = new Map<string, number>();
    expect(await repeatFailedDeliveries(api, call, counts)).toEqual({ repeated: 50, isFailing: true });
    expect([asked, repeated[0], repeated.at(-1)]).toEqual([2, 801, 850]);
    pages = Number.POSITIVE_INFINITY;
    asked = 0;
    await repeatFailedDeliveries(api, call, counts);
    expect(asked).toBe(10);
  });
});
