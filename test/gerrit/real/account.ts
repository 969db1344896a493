/** Accounts of a real Gerrit, and requests in their names. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import ssh2 from 'ssh2';
import type { Json } from '../../../src/model/job.ts';

/** A Gerrit account with its credentials. */
export interface Account {
  readonly username: string;
  readonly password: string;
  /** Path of the private key; empty: none. */
  readonly keyFile: string;
}

/** What Gerrit answered. */
export interface Reply {
  readonly status: number;
  /** Without the prefix that keeps pages from reading it. */
  readonly text: string;
  /** Null: it is no JSON. */
  readonly json: Json;
}

/** One request. @param path below `/a/`, encoded. */
export type Ask = (by: Account, method: string, path: string, body?: Json) => Promise<Reply>;

export function asking(url: string): Ask {
  return async (by, method, path, body) => {
    const response = await fetch(`${url}/a/${path}`, {
      method,
      headers: {
        Authorization: basicAuthorization(by),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = (await response.text()).replace(/^\)\]\}'\n/, '');
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, text, json: isJson ? JSON.parse(text) : null };
  };
}

/** @throws Error with the answer, unless it is a success. */
export async function askWell(ask: Ask, ...question: Parameters<Ask>): Promise<Json> {
  const { status, text, json } = await ask(...question);
  if (status >= 300) throw new Error(`${question[1]} ${question[2]}: ${status} ${text}`);
  return json;
}

/** The value of an `Authorization` header. */
export function basicAuthorization({ username, password }: Account): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Creates an account with a password for REST and git and a key for SSH. */
export async function createAccount(
  ask: Ask,
  admin: Account,
  username: string,
  folder: string,
): Promise<Account> {
  const key = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256, comment: username });
  const account = {
    username,
    password: `${username}-password`,
    keyFile: path.join(folder, `${username}.key`),
  };
  await writeFile(account.keyFile, key.private, { mode: 0o600 });
  await askWell(ask, admin, 'PUT', `accounts/${username}`, {
    name: `${username.slice(0, 1).toUpperCase()}${username.slice(1)}`,
    email: `${username}@example.org`,
    http_password: account.password,
    ssh_key: key.public,
  });
  return account;
}
