/**
 * One bounded GET of JSON from an issuer of tokens: at most FETCH_LIMITS of time and bytes, no redirect followed. Where an issuer
 * says its keys are is as good as the keys themselves, so it may not send us elsewhere, nor over a connection that others can change.
 */
import { IssuerTrouble } from './issuer-trouble.ts';

/** Milliseconds for the whole answer, and its bytes. Key sets have some kilobytes. */
const FETCH_LIMITS = { milliseconds: 5000, bytes: 262_144 } as const;

/** @returns an object. @throws IssuerTrouble for anything else. */
export async function fetchFromIssuer(url: string): Promise<{ readonly [name: string]: unknown }> {
  const signal = AbortSignal.timeout(FETCH_LIMITS.milliseconds);
  let text: string;
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal,
      headers: { accept: 'application/json' },
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new IssuerTrouble(`${url} answered ${statusText(response)}`);
    }
    text = await textOf(response, url);
  } catch (error) {
    if (error instanceof IssuerTrouble) throw error;
    if (signal.aborted)
      throw new IssuerTrouble(`${url} gave no answer within ${FETCH_LIMITS.milliseconds / 1000} s`);
    throw new IssuerTrouble(`${url} cannot be reached (${reasonOf(error)})`, { cause: error });
  }
  return objectOf(text, url);
}

function statusText({ status, headers }: Response): string {
  if (status < 300 || status > 399) return `${status}`;
  const target = headers.get('location')?.slice(0, 200) ?? 'another address';
  return `${status}, a redirect to ${target}, which is not followed: write the address it leads to`;
}

async function textOf({ body }: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > FETCH_LIMITS.bytes)
      throw new IssuerTrouble(`${url} answered more than ${FETCH_LIMITS.bytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

function objectOf(text: string, url: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new IssuerTrouble(`${url} did not answer with a JSON object`);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message : error.message;
}
