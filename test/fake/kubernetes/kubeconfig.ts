/** How the fake API server is reached. */
import type { Authority } from '../certificates.ts';

export const NAMESPACE = 'jobs';
export const TOKEN = 'a-token-of-tests';

/** With a context that must be named. */
export function kubeconfigOf(server: string, { cert }: Authority): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'elsewhere' },
    clusters: [
      { name: 'tests', cluster: { server, 'certificate-authority-data': cert.toString('base64') } },
      { name: 'elsewhere', cluster: { server: 'https://127.0.0.1:1' } },
    ],
    users: [{ name: 'executor', user: { token: TOKEN } }],
    contexts: [
      { name: 'tests', context: { cluster: 'tests', user: 'executor', namespace: NAMESPACE } },
      { name: 'elsewhere', context: { cluster: 'elsewhere', user: 'executor' } },
    ],
  });
}
