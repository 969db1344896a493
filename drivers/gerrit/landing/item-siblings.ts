/**
 * The other changes of the same item, looked at before the first of them is submitted: Gerrit submits them one after the other, or in
 * one go as a topic, and a change that it would refuse must not be noticed when half of them have landed.
 */
import type { ProposedChange } from '../../../src/model/change.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GerritAnswer } from '../api/port.ts';
import type { GerritLandingContext } from './landing-context.ts';
import { changeObstacle, type GerritChangeNow, readChangeNow } from './landing-now.ts';

/** One of them; null: Gerrit does not show it. */
export interface SiblingNow {
  readonly change: ProposedChange;
  readonly now: GerritChangeNow | null;
}

type Context = Pick<GerritLandingContext, 'api' | 'call' | 'siblings'>;

/** One request for each. */
export async function readSiblings({
  api,
  call,
  siblings,
}: Context): Promise<GerritAnswer<readonly SiblingNow[]>> {
  const found: SiblingNow[] = [];
  for (const change of siblings) {
    const project = projectIdOf(change.project).name;
    const answer = await readChangeNow({ api, call: { ...call, project }, change });
    if (answer.kind === 'later' || answer.kind === 'lost') return answer;
    found.push({ change, now: answer.kind === 'ok' ? answer.data : null });
  }
  return { kind: 'ok', status: 200, data: found };
}

/** Why none of the item may be submitted; undefined: nothing speaks against it. @param siblings none of them is merged. */
export function siblingsObstacle(
  siblings: readonly SiblingNow[],
  votesAreGiven: boolean,
): string | undefined {
  for (const { change, now } of siblings) {
    const notReady = votesAreGiven && now?.submittable === false ? 'Gerrit would not submit it' : undefined;
    const obstacle = now === null ? 'Gerrit does not show it' : (changeObstacle(now, { change }) ?? notReady);
    const name = `${change.id} of ${projectIdOf(change.project).name}`;
    if (obstacle !== undefined) return `change ${name} has to land with it: ${obstacle}`;
  }
  return undefined;
}
