/** Which other open changes Gerrit would submit along with one: those it is built on, and those of its topic. */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import { mappingsOf, textOf, wholeOf } from '../api/info-json.ts';
import type { GerritAnswer } from '../api/port.ts';
import type { GerritLandingContext } from './landing-context.ts';

/** Open ones, without the change itself. */
export interface SubmittedTogether {
  /** Changes of the same item. */
  readonly siblings: readonly number[];
  /** For people: `17 of acme/lib`. */
  readonly others: readonly string[];
  /** How many are hidden from our account. */
  readonly hidden: number;
}

const MOST_CHANGES = 1_000;
const ALONE: SubmittedTogether = { siblings: [], others: [], hidden: 0 };

/** One request. A Gerrit that does not answer it submits, and says what it lacks. */
export async function readSubmittedTogether({
  api,
  call,
  change,
  siblings,
}: Pick<GerritLandingContext, 'api' | 'call' | 'change' | 'siblings'>): Promise<
  GerritAnswer<SubmittedTogether>
> {
  const answer = await api.ask(
    {
      operation: 'changes/submitted-together',
      method: 'GET',
      path: `changes/${change.id}/submitted_together?o=NON_VISIBLE_CHANGES`,
    },
    call,
  );
  if (answer.kind === 'refused') return { kind: 'ok', status: answer.status, data: ALONE };
  if (answer.kind !== 'ok') return answer;
  const info = isMapping(answer.data) ? answer.data : { changes: answer.data };
  const own = new Set(siblings.map(({ id }) => Number(id)));
  const open = mappingsOf(info.changes, MOST_CHANGES).flatMap(each => {
    const number = wholeOf(each._number);
    if (number === null || number === Number(change.id) || each.status !== 'NEW') return [];
    return [{ number, text: `${number} of ${textOf(each.project, 200) ?? '?'}` }];
  });
  return {
    ...answer,
    data: {
      siblings: open.filter(({ number }) => own.has(number)).map(({ number }) => number),
      others: open.filter(({ number }) => !own.has(number)).map(({ text }) => text),
      hidden: wholeOf(info.non_visible_changes) ?? 0,
    },
  };
}

/** Why the change must not be submitted; undefined: nothing else would land with it. */
export function togetherObstacle({ others, hidden }: SubmittedTogether): string | undefined {
  if (others.length > 0) {
    const named = others.slice(0, 5).join(', ');
    const more = others.length > 5 ? ` and ${others.length - 5} more` : '';
    const isOne = others.length === 1;
    return `Gerrit would submit ${isOne ? 'change' : 'changes'} ${named}${more} with it, and ${isOne ? 'it was' : 'they were'} not tested with it: a topic that is submitted as a whole, or a change that it is built on`;
  }
  if (hidden === 0) return undefined;
  return `Gerrit would submit ${hidden} more with it that our account may not see`;
}
