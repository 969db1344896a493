/** What may be wrong with a name that nothing defines, as the end of a sentence. */
import { didYouMean } from '../../lib/nearest-name.ts';
import { projectIdOf } from '../../model/project.ts';
import type { Collected } from './collected.ts';

/**
 * A name that is nearly the same, and a file that cannot be read and may hold the definition: one mistake there makes many names
 * missing elsewhere.
 *
 * @returns `, did you mean "unit-tests"?`, `; acme/config@main:zuul.d/jobs.yaml cannot be read and may define it`, both, or nothing.
 */
export function missingNameHint(
  name: string,
  known: Iterable<string>,
  { hints, unreadable }: Pick<Collected, 'hints' | 'unreadable'>,
): string {
  const [file] = unreadable;
  const near = didYouMean(name, known, hints);
  if (file === undefined) return near;
  const place = `${projectIdOf(file.project).name}@${file.branch}:${file.path}`;
  return `${near}; ${place} cannot be read and may define it`;
}
