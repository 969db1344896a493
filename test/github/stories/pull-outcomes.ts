/** What became of pull requests, read where people would look: decisions, items, the trace of a webhook. */
import type { FinishedItem, LiveItem } from '../../../src/api/live-item.ts';
import type { OtlpSink } from '../../fake/otlp-sink.ts';
import { TENANT } from '../../scenario/site.ts';
import type { Pull } from '../fake/world.ts';
import type { GithubWorld } from './github-world.ts';

interface PullDecision {
  readonly text: string;
  readonly pipeline: string | null;
}

/** Resolves when there is a decision of the pipeline about a pull request of acme/app with such a text. */
export async function decided(
  { api, observer }: GithubWorld,
  { number }: Pull,
  text: RegExp,
  pipeline = 'gate',
): Promise<void> {
  const path = `/api/tenant/${TENANT}/changes/${number}/decisions?project=acme%2Fapp`;
  await observer.until(`a decision about #${number}: ${text}`, async () => {
    const { decisions } = await api.get<{ readonly decisions: readonly PullDecision[] }>(path);
    return decisions.some(each => each.pipeline === pipeline && text.test(each.text));
  });
}

/** All items of a pull request of acme/app, live ones first. */
export async function itemsOf(
  world: GithubWorld,
  pull: Pull,
  pipeline: string,
): Promise<readonly (LiveItem | FinishedItem)[]> {
  const all = [...world.observer.items(), ...(await world.observer.finished())];
  const found = all.filter(
    item => item.pipeline === pipeline && item.changes.some(({ name }) => name === String(pull.number)),
  );
  return [...new Map(found.map(item => [item.uuid, item])).values()];
}

/** Resolves when every webhook that was taken is processed, and nothing moves any more. */
export async function webhooksProcessed({ github, sink, observer }: GithubWorld): Promise<void> {
  await github.settled();
  const taken = github.deliveries.filter(({ status }) => status === 200).map(({ guid }) => guid);
  await observer.until('all webhooks to be processed', () => {
    const roots = sink.spans.filter(({ parentSpanId }) => parentSpanId === null);
    const followed = new Set(roots.map(({ attributes }) => attributes['gatehouse.link.follows']));
    const forwarded = roots.filter(each => each.attributes['gatehouse.event.outcome'] === 'forwarded');
    return (
      taken.every(guid => traceOfWebhook(sink, guid) !== undefined) &&
      forwarded.every(({ traceId }) => followed.has(traceId))
    );
  });
  await observer.settle();
}

/** Root span of the ingestion; of several webhooks that were processed as one, their common one. */
function traceOfWebhook(sink: OtlpSink, guid: string): OtlpSink['spans'][number] | undefined {
  return sink.spans.find(
    ({ attributes }) =>
      attributes['gatehouse.delivery.id'] === guid ||
      [attributes['gatehouse.delivery.answered']].flat().includes(guid),
  );
}
