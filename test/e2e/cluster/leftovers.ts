/** What must be gone from the store when nothing goes on any more. */
import type { Replay } from './store-replay.ts';

/**
 * Parents (below the root) that must be empty; `*` is one segment. Not here: cancels that came when the work was done, which the
 * sweeper takes every five minutes.
 */
const EMPTY: readonly string[] = [
  'events/connection/*/queue',
  'events/connection/*/queue-dead',
  'events/tenant/*/trigger',
  'events/tenant/*/trigger-dead',
  'events/tenant/*/management',
  'events/tenant/*/management-dead',
  'tenants/*/answers',
  'tenants/*/pipelines/*/items',
  'tenants/*/pipelines/*/events',
  'tenants/*/pipelines/*/events-dead',
  'requests/*/*/queue',
  'requests/*/*/claimed',
  'outbox/spans',
  'outbox/history',
  'outbox/reports/*/*',
];

/** One line per node that is left over. */
export function leftovers(replay: Replay, root: string): readonly string[] {
  const rules = EMPTY.map(rule => new RegExp(`^${root}/${rule.replaceAll('*', '[^/]+')}/[^/]+$`));
  return [...replay.nodes].flatMap(([path, node]) => {
    if (rules.some(rule => rule.test(path))) return [`${path} is left over`];
    if (node.owner !== undefined && !replay.sessions.has(node.owner))
      return [`${path} belongs to the ended session ${node.owner}`];
    return [];
  });
}
