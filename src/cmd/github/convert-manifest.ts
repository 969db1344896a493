/** The last step of the manifest flow: GitHub hands over the new App's key and secret for the code it gave the browser. */
import { Octokit } from '@octokit/core';
import { redact } from '../../lib/redact.ts';
import { Secret } from '../../lib/secret.ts';

/** An App that GitHub has created. */
export interface CreatedApp {
  readonly id: number;
  readonly slug: string;
  /** Page of the App. */
  readonly url: string;
  /** RSA key in PEM. */
  readonly key: Secret;
  readonly webhookSecret: Secret;
}

/** What GitHub answered; `text` is one line for people. */
export type Conversion =
  | { readonly kind: 'created'; readonly app: CreatedApp }
  | { readonly kind: 'failed'; readonly text: string };

const ANSWER_WITHIN_MS = 30_000;

/** @param code GitHub accepts it once, within an hour. @param api e.g. `https://api.github.com`. */
export async function convertManifest(api: string, code: string, signal: AbortSignal): Promise<Conversion> {
  const octokit = new Octokit({ baseUrl: api, userAgent: 'gatehouse' });
  try {
    const { data } = await octokit.request('POST /app-manifests/{code}/conversions', {
      code,
      request: { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]) },
    });
    if (data.webhook_secret === null || data.slug === undefined)
      return {
        kind: 'failed',
        text: 'GitHub created the App without a webhook secret; delete it and try again',
      };
    return {
      kind: 'created',
      app: {
        id: data.id,
        slug: data.slug,
        url: data.html_url,
        key: new Secret(data.pem),
        webhookSecret: new Secret(data.webhook_secret),
      },
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      kind: 'failed',
      text: `GitHub did not hand over the App: ${redact(reason, [new Secret(code)])}`,
    };
  }
}
