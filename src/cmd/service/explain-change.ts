/**
 * What `gatehouse why` prints about a change, for people who ask at a code host: its live item, else its last one, and the decisions of
 * each event. Decisions and finished items are in the history, which a scheduler on a machine of its own may not have open.
 */
import { liveItem } from '../../api/live-item.ts';
import type { History } from '../../history/history.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import type { Change } from '../../model/change.ts';
import { projectIdOf, type TenantName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ExplainChange } from '../../scheduler/events/answer-questions.ts';
import { type LiveTenants, openLiveTenants } from '../../store/live-tenants.ts';
import type { Store } from '../../store/port.ts';
import { whyLines } from '../commands/why-text.ts';
import type { Core } from './core.ts';

/** Newest decisions of an answer. */
const MOST_DECISIONS = 60;
/** Columns of an answer: a comment is narrower than a terminal. */
const WIDTH = 100;

interface ChangeExplainer extends Disposable {
  readonly explain: ExplainChange;
}

/** Keeps a copy of the pipelines from the first question on. @param history undefined: this process has none open. */
export function changeExplainer(
  { paths, clock, log }: Pick<Core, 'paths' | 'clock' | 'log'>,
  store: Store,
  history: Pick<History, 'decisions' | 'item'> | undefined,
): ChangeExplainer {
  let opening: Promise<LiveTenants> | undefined;
  const open = () =>
    openLiveTenants(store, paths, error => log.warn({ err: error }, 'an item cannot be read'));
  return {
    async explain(change, tenants) {
      opening ??= open().catch(error => {
        opening = undefined;
        throw error;
      });
      const live = await opening;
      const now = toMilliseconds(clock.now());
      const answers = tenants.map(async tenant => {
        const lines = await linesOf(change, tenant, { live, history, now });
        return tenants.length === 1 ? lines : [`tenant ${tenant}`, '', ...lines];
      });
      return (await Promise.all(answers)).map(lines => lines.join('\n')).join('\n\n');
    },
    [Symbol.dispose]() {
      void opening?.then(
        live => live[Symbol.dispose](),
        () => {},
      );
    },
  };
}

async function linesOf(
  change: Change,
  tenant: TenantName,
  {
    live,
    history,
    now,
  }: {
    readonly live: LiveTenants;
    readonly history: Pick<History, 'decisions' | 'item'> | undefined;
    readonly now: number;
  },
): Promise<readonly string[]> {
  const name = change.kind === 'change' ? change.id : change.ref;
  const project = projectIdOf(change.project).name;
  const decisions =
    (await history?.decisions({
      tenant,
      project: change.project,
      change: change.key,
      limit: MOST_DECISIONS,
    })) ?? [];
  const present = newestItem(live, tenant, change);
  const last = decisions.findLast(({ item }) => item !== null)?.item ?? undefined;
  const item = present ?? (last === undefined ? undefined : await history?.item(tenant, last));
  if (item === undefined && history === undefined)
    return [`It is in no pipeline now. "gatehouse why ${project} ${name} --tenant ${tenant}" shows why.`];
  const shown =
    item === undefined ? undefined : liveItem(item, { traceUrl: null, tracesUrl: null, expected: new Map() });
  const style = { width: WIDTH, colour: false, timeZone: 'UTC', now };
  return whyLines({ project, change: name, decisions, item: shown }, style);
}

function newestItem(live: LiveTenants, tenant: TenantName, { key }: Change): QueueItem | undefined {
  const { pipelines = [], retired = [] } = live.layout(tenant) ?? {};
  const items = [...pipelines, ...retired].flatMap(({ name }) => [
    ...live.pipeline(tenant, name).items.values(),
  ]);
  return items
    .filter(({ role, changes }) => role === 'live' && changes.some(each => each.key === key))
    .toSorted((a, b) => toMilliseconds(a.enqueuedAt) - toMilliseconds(b.enqueuedAt))
    .at(-1);
}
