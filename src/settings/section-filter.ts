/**
 * Which errors concern a command that only needs a few sections: an unset variable of `[connection gerrit]` is no reason to refuse
 * `create-auth-token`. Where other sections have their defaults below `state_dir`, that option concerns them too.
 */
import type { OptionProblem } from '../lib/option-reader.ts';
import { isAuth } from './auth-section.ts';
import { isNotify } from './notify-section.ts';
import type { Settings } from './settings.ts';

const BELOW_STATE_DIR: ReadonlySet<keyof Settings> = new Set([
  'store',
  'database',
  'web',
  'merger',
  'executor',
]);

/** @param wanted the sections the command reads. Errors of the file's own syntax concern every command. */
export function concerns({ section, option }: OptionProblem, wanted: ReadonlySet<keyof Settings>): boolean {
  if (section === '') return true;
  if (isAuth(section)) return wanted.has('auth');
  if (isNotify(section)) return wanted.has('notify');
  if (/^connection(\s|$)/.test(section)) return wanted.has('connections');
  if (section === 'zookeeper') return wanted.has('store');
  if (section === 'log_store') return wanted.has('logStore');
  if (section === 'scheduler' && option === 'state_dir')
    return !wanted.isDisjointFrom(BELOW_STATE_DIR) || wanted.has('scheduler');
  if (section === 'merger' && option === 'git_dir') return wanted.has('merger') || wanted.has('executor');
  return [...wanted].some(name => name === section);
}
