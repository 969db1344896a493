/** Asks Zuul's own loader (oracle.py) for all cases. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Json } from '../../src/model/job.ts';
import type { CompatCase, FixtureConnection } from './fixtures.ts';

/** A job as both sides have it, reduced to what is compared. */
export type PlainJob = { readonly [attribute: string]: Json };

/** What Zuul makes of a tenant. */
export interface OracleTenant {
  /** It cannot be loaded at all. */
  readonly error?: string;
  readonly errors?: readonly OracleError[];
  /** Managers by pipeline. */
  readonly pipelines?: { readonly [name: string]: string };
  /** Numbers of variants. */
  readonly jobs?: { readonly [name: string]: number };
  /** By `<project> <pipeline>`, of a change of master; a project that takes no part in a pipeline is not there. */
  readonly graphs?: {
    readonly [place: string]: { readonly error: string } | { readonly jobs: readonly PlainJob[] };
  };
}

interface OracleError {
  readonly severity: string;
  readonly text: string;
  readonly project: string | null;
  readonly path: string | null;
  readonly line: number | null;
}

/** `error`: the tenant file cannot be read. */
export type OracleAnswer =
  | { readonly error: string }
  | { readonly tenants: { readonly [name: string]: OracleTenant } };

/**
 * @param python with Zuul installed. @param key file of the private key that decrypts secrets.
 * @returns one for each case, in their order. @throws Error when the program fails.
 */
export async function askOracle(
  python: string,
  cases: readonly CompatCase[],
  connections: ReadonlyMap<string, FixtureConnection>,
  key: string,
): Promise<readonly OracleAnswer[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-compat-'));
  try {
    const settings = path.join(folder, 'zuul.conf');
    await writeFile(settings, [...connections.values()].map(({ section }) => section).join('\n'));
    return await answersOf(python, settings, key, cases);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function answersOf(
  python: string,
  settings: string,
  key: string,
  cases: readonly CompatCase[],
): Promise<readonly OracleAnswer[]> {
  const program = path.join(import.meta.dirname, 'oracle.py');
  const child = spawn(python, [program, settings, key], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', code => (code === 0 ? resolve() : reject(new Error(`the oracle ended with ${code}`))));
  });
  child.stdin.end(
    cases.map(({ tenantFile, projects }) => `${JSON.stringify({ tenantFile, projects })}\n`).join(''),
  );
  const answers: OracleAnswer[] = [];
  for await (const line of createInterface({ input: child.stdout })) answers.push(JSON.parse(line));
  await ended;
  if (answers.length !== cases.length) throw new Error(`${answers.length} answers to ${cases.length} cases`);
  return answers;
}

/** The first reason why Zuul does not load it; undefined: it does. Warnings are none. */
export function refusedByZuul(answer: OracleAnswer, tenant: string | undefined): string | undefined {
  if ('error' in answer) return answer.error;
  const tenants = tenant === undefined ? Object.values(answer.tenants) : [answer.tenants[tenant] ?? {}];
  for (const { error, errors = [] } of tenants) {
    const reason = error ?? errors.find(({ severity }) => severity === 'error')?.text;
    if (reason !== undefined) return reason;
  }
  return undefined;
}
