/**
 * The keys of an issuer that are read over HTTP: drivers `OpenIDConnect` and `RS256withJWKS`.
 *
 *     discovery    <issuer_id>/.well-known/openid-configuration names the key set, unless `keys_url` does; it must name the same issuer
 *     cached       ten minutes; a token with an unknown key id has the set read again, once in 30 s after it was read
 *     rotated      a new key is found by its id; one that was taken away counts for ten minutes more at most
 *     in trouble   keys read within the last hour go on to count; the issuer is asked again after 30 s, not with each token
 *
 * All tokens that wait share one request. Nothing is asked before the first token of the realm.
 */
import {
  type CryptoKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FlattenedJWSInput,
  type JWTHeaderParameters,
} from 'jose';
import type { Clock } from '../../lib/clock.ts';
import { fetchFromIssuer } from './fetch-issuer.ts';
import { IssuerTrouble } from './issuer-trouble.ts';

/** As `jwtVerify` wants it. @throws IssuerTrouble, or a JOSEError when the set has no such key. */
export type IssuerKeys = (header: JWTHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** Where an issuer's keys are. */
export interface IssuerAddress {
  readonly issuer: string;
  /** Undefined: the issuer's discovery document names it. */
  readonly keysUrl: string | undefined;
}

/** Milliseconds. */
const KEEP = 10 * 60_000;
const ASK_AGAIN = 30_000;
const KEEP_IN_TROUBLE = 60 * 60_000;

/** @param onTrouble called once for each attempt that failed, at most every 30 s. */
export function issuerKeys(
  address: IssuerAddress,
  clock: Pick<Clock, 'monotonic'>,
  onTrouble: (reason: string) => void,
): IssuerKeys {
  const keys = new KeySet(address, clock, onTrouble);
  return (header, token) => keys.keyFor(header, token);
}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;
type KnownKeys = ReturnType<typeof createLocalJWKSet>;

class KeySet {
  readonly #address: IssuerAddress;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #onTrouble: (reason: string) => void;
  /** Undefined: not found yet, or to be found again. One promise for all that wait. */
  #remote: Promise<RemoteKeys> | undefined;
  /** The last set that was read, and when. */
  #known: { readonly keys: KnownKeys; readonly at: number } | undefined;
  #trouble: { readonly error: IssuerTrouble; readonly until: number } | undefined;

  constructor(address: IssuerAddress, clock: Pick<Clock, 'monotonic'>, onTrouble: (reason: string) => void) {
    this.#address = address;
    this.#clock = clock;
    this.#onTrouble = onTrouble;
  }

  async keyFor(header: JWTHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (this.#trouble !== undefined && this.#clock.monotonic() < this.#trouble.until)
      return this.#fromKnown(header, token, this.#trouble.error);
    try {
      this.#remote ??= this.#find();
      const remote = await this.#remote;
      return await remote(header, token);
    } catch (error) {
      if (!(error instanceof IssuerTrouble)) throw error;
      this.#note(error);
      return this.#fromKnown(header, token, error);
    }
  }

  /** @throws the trouble, when there are no keys or they are too old. */
  #fromKnown(
    header: JWTHeaderParameters,
    token: FlattenedJWSInput,
    trouble: IssuerTrouble,
  ): Promise<CryptoKey> {
    if (this.#known === undefined || this.#clock.monotonic() - this.#known.at > KEEP_IN_TROUBLE)
      throw trouble;
    return this.#known.keys(header, token);
  }

  /** Several tokens may wait for one attempt. */
  #note(error: IssuerTrouble): void {
    if (this.#trouble?.error === error) return;
    this.#trouble = { error, until: this.#clock.monotonic() + ASK_AGAIN };
    this.#remote = undefined;
    this.#onTrouble(error.message);
  }

  async #find(): Promise<RemoteKeys> {
    const url = this.#address.keysUrl ?? (await discover(this.#address.issuer));
    return createRemoteJWKSet(new URL(url), {
      cacheMaxAge: KEEP,
      cooldownDuration: ASK_AGAIN,
      [customFetch]: async () => {
        const set = await fetchFromIssuer(url);
        this.#known = { keys: localKeys(set, url), at: this.#clock.monotonic() };
        this.#trouble = undefined;
        return Response.json(set);
      },
    });
  }
}

function localKeys({ keys }: { readonly [name: string]: unknown }, url: string): KnownKeys {
  try {
    if (Array.isArray(keys)) return createLocalJWKSet({ keys });
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
  }
  throw new IssuerTrouble(`${url} did not answer with a set of keys`);
}

/** @returns where the issuer's keys are. */
async function discover(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const { issuer: named, jwks_uri: keys } = await fetchFromIssuer(url);
  if (typeof named !== 'string' || named.replace(/\/+$/, '') !== issuer.replace(/\/+$/, ''))
    throw new IssuerTrouble(`${url} is about another issuer than issuer_id`);
  if (typeof keys !== 'string' || !URL.canParse(keys))
    throw new IssuerTrouble(`${url} does not say where the keys are (jwks_uri); set keys_url`);
  if (!isAsSafe(new URL(keys), new URL(issuer)))
    throw new IssuerTrouble(`${url} names keys at ${keys.slice(0, 200)}, which is not https`);
  return keys;
}

/** An issuer on this machine, without TLS, has its keys there as well. */
function isAsSafe(keys: URL, issuer: URL): boolean {
  return keys.protocol === 'https:' || (issuer.protocol === 'http:' && keys.host === issuer.host);
}
