/** Reads the App's webhook and the events it is subscribed to. */

import type { Asked } from '../../../src/driver/ask-online.ts';
import type { GithubApi, GithubCall } from '../api/port.ts';
import { type Wrong, withoutData } from './read-repository.ts';
import type { WebhookFacts } from './webhook-findings.ts';

type Facts = Pick<WebhookFacts, 'events' | 'hook'>;

/** `facts` null: the connection has a token, and GitHub has no webhook of its own for it. @throws the signal's reason. */
export async function readWebhook(
  api: Pick<GithubApi, 'rest' | 'identity'>,
  call: GithubCall,
): Promise<Asked<Wrong | { readonly kind: 'facts'; readonly facts: Facts | null }>> {
  const app = await api.rest('apps/get-authenticated', 'GET /app', {}, call);
  // Of a token, 404: only Apps may ask.
  if (app.kind === 'refused' && app.status === 404) return answered(null);
  if (app.kind !== 'ok') return withoutData(app);
  const hook = await api.rest('apps/get-webhook-config-for-app', 'GET /app/hook/config', {}, call);
  if (hook.kind === 'later' || hook.kind === 'lost') return withoutData(hook);
  const events = app.data?.events ?? [];
  if (hook.kind === 'refused') return answered({ events, hook: null });
  const { url, content_type: contentType = 'form' } = hook.data;
  return answered({ events, hook: { url: url === undefined || url === '' ? null : url, contentType } });
}

function answered(facts: Facts | null) {
  return { kind: 'answered', value: { kind: 'facts', facts } } as const;
}
