/** The number of the account that the connection uses, asked once. */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';

/** Null: Gerrit does not say. */
export type OwnAccount = (call: GerritCall) => Promise<GerritAnswer<number | null>>;

/** Asks with the first call, and again after a failure. */
export function createOwnAccount(api: GerritApi): OwnAccount {
  let known: GerritAnswer<number | null> | undefined;
  return async call => {
    if (known !== undefined) return known;
    const answer = await api.ask({ operation: 'accounts/self', method: 'GET', path: 'accounts/self' }, call);
    if (answer.kind === 'later' || answer.kind === 'lost') return answer;
    const id = answer.kind === 'ok' && isMapping(answer.data) ? answer.data._account_id : null;
    const own = { kind: 'ok', status: 200, data: typeof id === 'number' ? id : null } as const;
    if (own.data !== null) known = own;
    return own;
  };
}
