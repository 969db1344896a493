/** Whether who is signed in may act for a tenant. The service asks for the right again with each act. */
import type { AuthorizationsDocument } from '../../api/service.ts';
import { api, base, fetchJson } from './address.ts';
import { sessionToken } from './session.ts';

/** Of one tenant. */
export class RightToAct {
  #isGiven = false;
  #forAll: Promise<boolean> | undefined;

  /** @param onKnown called when the service has said yes. */
  constructor(tenant: string, onKnown: () => void) {
    if (sessionToken() === undefined) return;
    fetchJson<AuthorizationsDocument>(api(tenant, 'authorizations'))
      .then(found => {
        this.#isGiven = found?.zuul.admin === true;
        if (this.#isGiven) onKnown();
      })
      // Then nothing is offered: a service that does not answer cannot act either.
      .catch(() => {});
  }

  /** False as well once the sign-in has ended. */
  get isGiven(): boolean {
    return this.#isGiven && sessionToken() !== undefined;
  }

  /** For every tenant: hosts serve all of them. */
  async isGivenForAll(): Promise<boolean> {
    if (!this.isGiven) return false;
    this.#forAll ??= fetchJson<AuthorizationsDocument>(`${base}/api/authorizations`)
      .then(found => found?.zuul.admin === true)
      // As above; asked again with the next look.
      .catch(() => {
        this.#forAll = undefined;
        return false;
      });
    return this.#forAll;
  }
}
