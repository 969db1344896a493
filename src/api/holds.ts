/** `GET …/autohold` and `…/autohold/<id>`, in Zuul's form: requests to hold the hosts of failed builds, or their workspaces. */
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import { filterText, type HoldRequest, heldUntil } from '../model/hold-request.ts';
import { type Document, document, list, nullable, text, uuid, whole } from './schema.ts';

/** One request. */
export const holdSchema = document({
  id: text('Ten digits'),
  tenant: text(),
  project: text('Canonical name'),
  job: text(),
  ref_filter: text('Expression for refs, or `change` and its name'),
  max_count: whole('Builds that it holds at most'),
  current_count: whole('Builds that it has held'),
  reason: text(),
  node_expiration: whole('Seconds from the end of a build; 0: until the request is deleted'),
  expired: nullable(whole('When it held its last build, in seconds since the epoch; null: it holds more')),
  nodes: list(document({ build: uuid(), nodes: list(text('Host')) }), 'What it holds now'),
  gatehouse: document({
    by: text('Who asked'),
    at: whole('In seconds since the epoch'),
    held: list(
      document({
        build: uuid(),
        since: whole('In seconds since the epoch'),
        until: nullable(whole('Likewise; null: until the request is deleted')),
        workspace: nullable(
          document({
            executor: text('Name'),
            path: text('On its machine'),
            bytes: whole('Allocated there'),
          }),
          'Of a job without hosts; null: it has some',
        ),
      }),
      'As `nodes`',
    ),
  }),
});
/** Encoded by {@link holdDocument}. */
export type HoldDocument = Document<typeof holdSchema>;

/** Encodes a request to hold hosts. */
export function holdDocument(id: string, hold: HoldRequest): HoldDocument {
  const last = hold.held.at(-1);
  return {
    id,
    tenant: hold.tenant,
    project: hold.project,
    job: hold.job,
    ref_filter: filterText(hold.filter),
    max_count: hold.maxCount,
    current_count: hold.count,
    reason: hold.reason,
    node_expiration: hold.expiration,
    expired: hold.count < hold.maxCount || last === undefined ? null : seconds(last.at),
    nodes: hold.held.map(({ build, hosts }) => ({ build, nodes: [...hosts] })),
    gatehouse: {
      by: hold.by,
      at: seconds(hold.at),
      held: hold.held.map(each => {
        const until = heldUntil(hold, each);
        return {
          build: each.build,
          since: seconds(each.at),
          until: until === undefined ? null : seconds(until),
          workspace: each.workspace === undefined ? null : { ...each.workspace },
        };
      }),
    },
  };
}

function seconds(time: Nanoseconds): number {
  return Math.floor(toMilliseconds(time) / 1000);
}
