/**
 * `POST /api/connection/<name>/payload`: GitHub's webhooks.
 *
 *     X-GitHub-Event: pull_request
 *     X-GitHub-Delivery: 72d3162e-cc78-11e3-81ab-4c9367dc0958     the same id is processed once
 *     X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the raw body under webhook_token>
 *
 * Headers → signature → event → notification (reduce.ts). Nothing is asked of GitHub. A webhook of no interest is answered with 202
 * and not stored.
 */
import { Webhooks } from '@octokit/webhooks';
import type { WebhookIntake, WebhookVerdict } from '../../../src/driver/intake.ts';
import {
  oneHeader,
  type RefusedWebhook,
  refusedWebhook,
  type WebhookHeaders,
} from '../../../src/driver/webhook-request.ts';
import { fromMilliseconds } from '../../../src/lib/clock.ts';
import type { Secret } from '../../../src/lib/secret.ts';
import { notificationJson } from './notification.ts';
import { reduceWebhook } from './reduce.ts';
import type { IntakeFacts } from './reduced.ts';

/** GitHub sends no larger body. */
const MOST_BYTES = 25 * 1024 * 1024;
/** Year 2286. */
const LATEST = 1e13;

/** Of one connection. */
export interface GithubWebhookOptions extends IntakeFacts {
  /** Any of them may sign: the present one, and during a rotation the previous one. */
  readonly secrets: readonly [Secret, ...Secret[]];
  /** Accepted webhooks per second. */
  readonly ratePerSecond: number;
}

/** The secrets appear in no answer, and neither does the signature that a body should have had. */
export function createGithubWebhook({ secrets, ratePerSecond, appId }: GithubWebhookOptions): WebhookIntake {
  const verifiers = secrets.map(secret => new Webhooks({ secret: secret.reveal() }));
  return {
    maxBytes: MOST_BYTES,
    ratePerSecond,
    async verify(headers, body) {
      const signed = await signedText(headers, body, verifiers);
      return typeof signed === 'string' ? read(headers, signed, { appId }) : signed;
    },
  };
}

/** The body, if its signature fits. */
async function signedText(
  headers: WebhookHeaders,
  body: Uint8Array,
  verifiers: readonly Pick<Webhooks, 'verify'>[],
): Promise<string | RefusedWebhook> {
  const signature = oneHeader(headers, 'x-hub-signature-256');
  if (signature === undefined)
    return refusedWebhook(
      401,
      oneHeader(headers, 'x-hub-signature') === undefined
        ? 'the header X-Hub-Signature-256 is missing: set a secret for the webhook'
        : 'the header X-Hub-Signature-256 is missing: X-Hub-Signature (SHA-1) is not accepted',
    );
  // Checked first: the length of a signature is no secret.
  if (!/^sha256=[0-9a-f]{64}$/.test(signature))
    return refusedWebhook(401, 'X-Hub-Signature-256 is not sha256= and 64 hex digits');
  if (body.byteLength === 0) return refusedWebhook(401, 'the body is empty');
  const text = asText(body);
  if (text === undefined) return refusedWebhook(400, 'the body is not UTF-8');
  for (const verifier of verifiers) if (await verifier.verify(text, signature)) return text;
  return refusedWebhook(401, 'the signature does not match the body');
}

function read(headers: WebhookHeaders, body: string, facts: IntakeFacts): WebhookVerdict {
  const type = oneHeader(headers, 'content-type') ?? '';
  if (!/^application\/json *(;|$)/i.test(type))
    return refusedWebhook(415, 'set the content type of the webhook to application/json at GitHub');
  const event = oneHeader(headers, 'x-github-event');
  if (event === undefined || !/^\w{1,100}$/.test(event))
    return refusedWebhook(400, 'the header X-GitHub-Event is missing, or is no name of an event');
  const delivery = oneHeader(headers, 'x-github-delivery');
  if (delivery === undefined || !/^[\w-]{1,100}$/.test(delivery))
    return refusedWebhook(400, 'the header X-GitHub-Delivery is missing, or is no GUID');
  if (event === 'ping') return { kind: 'ignored', reason: 'the webhook is set up' };
  const reduction = reduceWebhook(event, body, facts);
  switch (reduction.kind) {
    case 'ignored':
      return reduction;
    case 'broken':
      return refusedWebhook(400, reduction.reason);
    case 'notification': {
      const { at, installation, action } = reduction.notification;
      return {
        kind: 'accepted',
        event: {
          type: event,
          deliveryId: delivery.toLowerCase(),
          payload: notificationJson(reduction.notification),
          ...(isTime(at) ? { madeAt: fromMilliseconds(at) } : {}),
          ...(installation === null ? {} : { installation: String(installation) }),
          ...(action === '' ? {} : { action }),
        },
      };
    }
  }
}

/** Milliseconds; anything else in the payload is left out. */
function isTime(at: number | null): at is number {
  return at !== null && at > 0 && at < LATEST;
}

/** Exactly the bytes that were signed, with a byte order mark if there is one. */
function asText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}
