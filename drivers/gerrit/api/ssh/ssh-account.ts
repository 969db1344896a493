/** Accounts as SSH names them, in the form of REST. Pure. */
import { isMapping } from '../../../../src/driver/read-mapping.ts';
import { sha256 } from '../../../../src/lib/ids.ts';
import type { Json } from '../../../../src/model/job.ts';
import type { JsonMapping } from '../info-json.ts';

/**
 * SSH shows no ids: one is made of the username, or of what else there is. It is negative, so that no id of Gerrit equals it, and the same
 * in every process.
 */
export function sshAccountId(name: string): number {
  return -1 - Number.parseInt(sha256(name).slice(0, 12), 16);
}

/** @returns undefined: no account. Gerrit's own messages are by an account without a username. */
export function sshAccount(json: Json | undefined): JsonMapping | undefined {
  if (!isMapping(json)) return undefined;
  const { username, email, name } = json;
  const known = [username, email, name].find(each => typeof each === 'string' && each !== '');
  if (typeof known !== 'string') return undefined;
  if (username === undefined && name === 'Gerrit Code Review') return undefined;
  return {
    _account_id: sshAccountId(known),
    ...(username === undefined ? {} : { username }),
    ...(email === undefined ? {} : { email }),
    ...(name === undefined ? {} : { name }),
  };
}
