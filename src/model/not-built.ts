/** Why no job of a buildset ran: what it conflicts with, or what is wrong with its configuration. */
import type { BuildSet } from './build-set.ts';
import type { ChangeKey } from './change.ts';
import { configErrorText } from './config-error.ts';
import { conflictText } from './conflict-text.ts';

/**
 * One sentence, e.g. `local/acme/app@master:.zuul.yaml:4:3: unknown key "tiemout" (and 2 more)`.
 *
 * @param own the item's changes. @returns undefined: neither is the reason.
 */
export function notBuiltText(
  { conflict, configErrors }: Pick<BuildSet, 'conflict' | 'configErrors'>,
  own: readonly { readonly key: ChangeKey }[],
): string | undefined {
  if (conflict !== null) return conflictText(conflict, own);
  const [first, ...others] = configErrors.filter(({ severity }) => severity === 'error');
  if (first === undefined) return undefined;
  return `${configErrorText(first)}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
}
