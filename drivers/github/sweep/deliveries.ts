/**
 * Failed deliveries of webhooks, which GitHub does not repeat by itself: it is asked to. Each event is asked for at most three times
 * by one process; a repetition has the same id, so that one that came after all is processed once.
 */
import type { GithubApi, GithubCall } from '../api/port.ts';

/** An entry of GitHub's list: one attempt to deliver an event. */
export interface DeliveryAttempt {
  readonly id: number | bigint;
  /** Of the event: the same for all its attempts. */
  readonly guid: string;
  /** HTTP status of our answer; 0: there was none. */
  readonly status_code: number;
}

/** How often this process asked for an event again, by its id in lower case, as in `ConnectionEvent.deliveryId`. */
export type RepeatCounts = Map<string, number>;

/** Of one event, by one process. */
const MOST_REPEATS = 3;
/** In one pass. */
const MOST_AT_ONCE = 50;
/** Events whose count is kept. */
const MOST_COUNTED = 10_000;

/**
 * The newest attempt of each event to repeat, the oldest of these first; they are counted. Pure but for the counts.
 *
 * @param attempts newest first, as GitHub lists them.
 */
export function deliveriesToRepeat(
  attempts: readonly DeliveryAttempt[],
  counts: RepeatCounts,
): readonly number[] {
  const events = [...Map.groupBy(attempts, ({ guid }) => guid).values()].toReversed();
  const due = events.flatMap(tries => {
    const [newest] = tries;
    const asked = newest === undefined ? 0 : (counts.get(newest.guid.toLowerCase()) ?? 0);
    const isOver = tries.some(({ status_code }) => isFinal(status_code));
    // GitHub lists failures only: when there is none since we asked, it arrived.
    return newest === undefined || isOver || asked >= MOST_REPEATS || tries.length <= asked ? [] : [newest];
  });
  const chosen = due.slice(0, MOST_AT_ONCE);
  for (const { guid } of chosen) {
    const key = guid.toLowerCase();
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const [oldest] = counts.keys();
    if (counts.size > MOST_COUNTED && oldest !== undefined) counts.delete(oldest);
  }
  return chosen.map(({ id }) => Number(id));
}

/** We answer 4xx to what we never take (a signature that does not fit): repeating it changes nothing. */
function isFinal(status: number): boolean {
  return status >= 200 && status < 500 && status !== 404 && status !== 408 && status !== 429;
}

/** What came of a pass. */
export interface RepeatedDeliveries {
  readonly repeated: number;
  /** Deliveries fail, or GitHub does not show whether they do: sweeps must be frequent. */
  readonly isFailing: boolean;
}

/** A token's connection is refused: only an App has a list of its deliveries. */
export async function repeatFailedDeliveries(
  api: Pick<GithubApi, 'rest'>,
  call: GithubCall,
  counts: RepeatCounts,
): Promise<RepeatedDeliveries> {
  const failed = await failedDeliveries(api, call);
  if (failed === undefined) return { repeated: 0, isFailing: true };
  const ids = deliveriesToRepeat(failed, counts);
  let repeated = 0;
  for (const id of ids) {
    const answer = await api.rest(
      'apps/redeliver-webhook-delivery',
      'POST /app/hook/deliveries/{delivery_id}/attempts',
      { delivery_id: id },
      call,
    );
    if (answer.kind === 'ok') repeated += 1;
    else if (answer.kind !== 'refused') break;
  }
  return { repeated, isFailing: ids.length > 0 };
}

/** Pages of a hundred. GitHub keeps deliveries for three days; failures before these are not repeated. */
const MOST_PAGES = 10;

/** Newest first; undefined: GitHub does not show them. */
async function failedDeliveries(
  api: Pick<GithubApi, 'rest'>,
  call: GithubCall,
): Promise<readonly DeliveryAttempt[] | undefined> {
  const attempts: DeliveryAttempt[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await api.rest(
      'apps/list-webhook-deliveries',
      'GET /app/hook/deliveries',
      { per_page: 100, status: 'failure', ...(cursor === undefined ? {} : { cursor }) },
      call,
    );
    if (answer.kind !== 'ok') return page === 0 ? undefined : attempts;
    attempts.push(...answer.data);
    cursor = answer.next;
    if (cursor === undefined) break;
  }
  return attempts;
}
