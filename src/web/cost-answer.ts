/** The answer to an operator's question what a request would do. */
import { actCostDocument } from '../api/act-cost.ts';
import { type Answer, jsonAnswer } from './answer.ts';
import type { PlannedAct, WebDeps } from './deps.ts';

/** What answers the question. */
export interface CostDeps {
  readonly costOf: NonNullable<WebDeps['costOf']>;
}

/** 200, also when nothing would happen: then it says why. */
export async function costAnswer({ costOf }: CostDeps, act: PlannedAct): Promise<Answer> {
  return jsonAnswer(actCostDocument(await costOf(act)));
}
