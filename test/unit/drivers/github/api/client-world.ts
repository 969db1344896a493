/** A client before a {@link startScriptedHost}, with an App of its own, and what it reports. */
import { generateKeyPairSync } from 'node:crypto';
import { type OpenClient, openClient } from '../../../../../drivers/github/api/open-client.ts';
import type { GithubCall } from '../../../../../drivers/github/api/port.ts';
import type { HostLater } from '../../../../../src/driver/host-later.ts';
import { systemClock } from '../../../../../src/lib/clock.ts';
import { Secret } from '../../../../../src/lib/secret.ts';
import type { Step } from '../../../../../src/model/step.ts';
import { startScriptedHost } from './scripted-host.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** A token as GitHub makes them, which no text may hold. */
export const TOKEN = 'ghs_CanaryCanaryCanaryCanaryCanary000001';
export const SECOND_TOKEN = 'ghs_CanaryCanaryCanaryCanaryCanary000002';

const INSTALLATION = {
  id: 7,
  app_slug: 'gatehouse',
  suspended_at: null,
  permissions: { metadata: 'read', contents: 'write', checks: 'write', issues: 'read', actions: 'write' },
};

export async function openClientWorld(as: 'app' | 'token' = 'app') {
  const host = await startScriptedHost();
  const steps: Step[] = [];
  const warnings: string[] = [];
  const notes: (HostLater | undefined)[] = [];
  const client: OpenClient = openClient(
    {
      connection: 'gh',
      apiUrl: host.url,
      concurrency: 4,
      identification:
        as === 'app'
          ? { kind: 'app', id: 1, key: new Secret(KEY) }
          : { kind: 'token', token: new Secret(TOKEN) },
    },
    {
      clock: systemClock(),
      random: () => 0,
      pause: async () => {},
      warn: text => warnings.push(text),
      asked: () => {},
      noted: (_repository, later) => notes.push(later),
    },
  );
  host.answer('GET /repos/acme/app/installation', { body: INSTALLATION });
  host.answer('POST /app/installations/7/access_tokens', { status: 201, body: { token: TOKEN } });
  const call = (over: Partial<GithubCall> = {}): GithubCall => ({
    repository: 'acme/app',
    weight: 'event',
    signal: new AbortController().signal,
    steps: step => steps.push(step),
    ...over,
  });
  return {
    host,
    client,
    api: client.api,
    steps,
    warnings,
    notes,
    call,
    async [Symbol.asyncDispose]() {
      client.close();
      await host[Symbol.asyncDispose]();
    },
  };
}
