/**
 * The forms in which a `Depends-On` line names a change of this connection; more than Zuul takes:
 *
 *     https://review.example.org/c/acme/app/+/12       and with /3, /3/file.txt, ?tab=comments, #message-… behind it
 *     https://review.example.org/#/c/acme/app/+/12     /#/c/12  /#/c/12/3       older pages
 *     https://review.example.org/12                    /c/12  /q/12
 *     I2ed0a85ab870bd1e03d8e84eb287bcf95c0a1f50        legacy, a Change-Id
 *
 * Below the path of `baseurl`, if it has one. Host names are those of `server`, `baseurl` and `canonical_hostname`.
 */
import { type ChangeKey, changeKey } from '../../../src/model/change.ts';
import { type ConnectionName, type ProjectKey, projectKey } from '../../../src/model/project.ts';
import { isChangeId } from './depends-on-footers.ts';

/** Where the connection's changes are. */
export interface ChangePlaces {
  readonly connection: ConnectionName;
  readonly canonicalHostname: string;
  /** Of Gerrit's pages, without trailing slash. */
  readonly baseUrl: string;
  /** Host name of Gerrit's SSH; absent: that of the page. */
  readonly server?: string;
}

/** What a value says. */
export type ChangeNamed =
  | { readonly kind: 'change'; readonly key: ChangeKey; readonly project: ProjectKey }
  /** Gerrit has to be asked for its project. */
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'change-id'; readonly id: string };

/** @returns undefined: it names no change of this connection. */
export function readChangeUrl(value: string, places: ChangePlaces): ChangeNamed | undefined {
  if (isChangeId(value)) return { kind: 'change-id', id: value };
  const path = pathBelow(value, places);
  if (path === undefined) return undefined;
  const named = /^(?:#?\/)?c\/(.+?)\/\+\/([1-9]\d{0,9})(?!\d)/.exec(path);
  if (named !== null) {
    const [, name = '', number = ''] = named;
    const project = projectKey({ connection: places.connection, name: decoded(name) });
    return { kind: 'change', key: changeKey(project, number), project };
  }
  const number = /^(?:#?\/)?(?:[cq]\/)?([1-9]\d{0,9})(?![\d.])/.exec(path)?.[1];
  return number === undefined ? undefined : { kind: 'number', number: Number(number) };
}

/** Behind the slash that ends `baseurl`; undefined: elsewhere. */
function pathBelow(value: string, { baseUrl, canonicalHostname, server }: ChangePlaces): string | undefined {
  const text = /^https?:\/\//i.test(value) ? value : `https://${value}`;
  if (/\s/.test(text) || !URL.canParse(text) || !URL.canParse(baseUrl)) return undefined;
  const url = new URL(text);
  const base = new URL(baseUrl);
  const hosts = [base.hostname, canonicalHostname, server ?? base.hostname].map(host => host.toLowerCase());
  if (!hosts.includes(url.hostname)) return undefined;
  const prefix = `${base.pathname.replace(/\/+$/, '')}/`;
  const path = `${url.pathname}${url.hash}`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}

/** Names of projects may be encoded in URLs. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
