/** AccountInfo of Gerrit's REST API. Pure. */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import type { GerritAccount } from '../facts.ts';
import { textOf, wholeOf } from './info-json.ts';

const LONGEST = 400;

/** @returns null: not an account, or one of which Gerrit shows nothing. */
export function readAccountInfo(json: Json | undefined): GerritAccount | null {
  if (!isMapping(json)) return null;
  const account = {
    id: wholeOf(json._account_id),
    username: textOf(json.username, LONGEST),
    email: textOf(json.email, LONGEST),
    name: textOf(json.name, LONGEST),
  };
  return Object.values(account).every(each => each === null) ? null : account;
}

/** An account of which nothing is known. */
export const UNKNOWN_ACCOUNT: GerritAccount = { id: null, username: null, email: null, name: null };
