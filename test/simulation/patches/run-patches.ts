/** Breaks every rule on purpose, one at a time, and says which of them was noticed. */
import type { Outcome } from '../run.ts';
import type { PatchedModules } from './apply.ts';
import type { Patch } from './patch.ts';
import { PATCHES } from './table.ts';

const FINDER = new URL('./find-violation.ts', import.meta.url).href;

/** @param write called with each line. @returns the exit code. */
export async function runPatches(modules: PatchedModules, write: (line: string) => void): Promise<number> {
  await import(FINDER);
  let missed = 0;
  for (const patch of PATCHES) {
    const { caught, text } = await verdictOn(patch, modules);
    if (!caught) missed += 1;
    write(`${caught ? '✓' : '✗'} ${patch.name}: ${patch.rule}`);
    write(`    ${caught ? text.slice(0, 160) : `${patch.name} was not caught: ${text.slice(0, 300)}`}`);
  }
  write(`${PATCHES.length} broken rules, ${PATCHES.length - missed} caught`);
  return missed === 0 ? 0 : 1;
}

async function verdictOn(
  patch: Patch,
  modules: PatchedModules,
): Promise<{ readonly caught: boolean; readonly text: string }> {
  try {
    const finder = (await modules.load(FINDER, patch)) as typeof import('./find-violation.ts');
    const outcome = await finder.findViolation(patch.caughtBy);
    if (outcome === undefined) return { caught: false, text: 'no run broke an invariant' };
    return { caught: !namesNothing(outcome), text: textOf(outcome) };
  } catch (error) {
    // It does not fit, or the simulation broke.
    return { caught: false, text: String(error) };
  }
}

/** A patch with a name that the product no longer has breaks no rule, only the program. */
function namesNothing({ violations, recent }: Outcome): boolean {
  return [...violations.map(({ text }) => text), ...recent].some(line => line.includes('ReferenceError'));
}

function textOf({ violations: [first] }: Outcome): string {
  return first === undefined
    ? ''
    : `${first.invariant} at ${(first.at / 1000).toFixed(3)} s: ${first.text.split('\n')[0]}`;
}
