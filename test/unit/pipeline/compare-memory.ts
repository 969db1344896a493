/** A turn with a memory decides exactly what one decides that looks at everything. */
import { isDeepStrictEqual } from 'node:util';
import type { IdMaker } from '../../../src/lib/ids.ts';
import { decideTurn } from '../../../src/pipeline/decide-turn.ts';
import type { TurnInput, TurnOutput } from '../../../src/pipeline/turn.ts';

/**
 * @param ids the same ones as the turn made.
 * @throws Error that names what differs.
 */
export function compareMemory(input: TurnInput, output: TurnOutput, ids: () => IdMaker): void {
  const { memory: _, ...rest } = input;
  const whole = decideTurn({ ...rest, ids: ids() });
  if ((whole.state === input.state) !== (output.state === input.state))
    throw new Error('with a memory another turn is one that changes nothing');
  for (const part of Object.keys(whole) as (keyof TurnOutput)[]) {
    if (part === 'memory') continue;
    const [expected, found] = [plain(whole, part), plain(output, part)];
    if (isDeepStrictEqual(expected, found)) continue;
    const texts = [expected, found].map(each => JSON.stringify(each));
    throw new Error(`with a memory ${part} is another:\n${texts.join('\n')}`);
  }
}

/** The items in their order, which a comparison of maps leaves out. */
function plain(output: TurnOutput, part: keyof TurnOutput): unknown {
  return part === 'state' ? { ...output.state, items: [...output.state.items.values()] } : output[part];
}
