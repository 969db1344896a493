/** REST requests of a test, as a person. */
import type { Shape } from '../../github/fake/shape.ts';
import type { FakeGerrit } from './fake-gerrit.ts';

export interface AskedAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Without the first line; undefined: not JSON. */

  readonly json: Shape | Shape[] | undefined;
  readonly text: string;
}

/** @param who null: anonymous, without `/a`. @param path below the root, e.g. `changes/12/detail?o=LABELS` */
export async function askGerrit(
  gerrit: Pick<FakeGerrit, 'url' | 'basic'>,
  who: string | null,
  method: string,
  path: string,
  body?: unknown,
): Promise<AskedAnswer> {
  const answer = await fetch(`${gerrit.url}${who === null ? '' : '/a'}/${path}`, {
    method,
    headers: {
      ...(who === null ? {} : { authorization: gerrit.basic(who) }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const json = text.startsWith(")]}'\n") ? JSON.parse(text.slice(5)) : undefined;
  return { status: answer.status, headers: answer.headers, json, text };
}
