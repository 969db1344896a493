/** What every driver's webhook does with a request, apart from its signature. */
import type { WebhookIntake, WebhookVerdict } from './intake.ts';

/** As Node has them: names in lower case, values that occur twice joined with a comma or in a list. */
export type WebhookHeaders = Parameters<WebhookIntake['verify']>[0];

/** The verdict on a request that is not authentic, or not readable. */
export type RefusedWebhook = Extract<WebhookVerdict, { kind: 'refused' }>;

/** @param reason goes into the answer: no secret, and nothing that helps to forge. */
export function refusedWebhook(status: RefusedWebhook['status'], reason: string): RefusedWebhook {
  return { kind: 'refused', status, reason };
}

/** A header that occurs twice counts as missing: which of the two is meant cannot be known. @param name in lower case. */
export function oneHeader(headers: WebhookHeaders, name: string): string | undefined {
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  const [, value] = found.length === 1 ? (found[0] ?? []) : [];
  // Node joins repeated headers with a comma, which no header of a webhook has.
  return typeof value === 'string' && !(name.startsWith('x-') && value.includes(',')) ? value : undefined;
}
