/**
 * `POST /api/connection/<name>/payload?token=…`: events of Gerrit's webhooks plug-in, in the form of the stream's lines.
 *
 * The plug-in signs nothing and sends no header of one's own: all that shows that a request is authentic is a token in its URL. A proxy
 * may add `Authorization: Bearer <token>`, or Basic with the token as password. The token appears in no log, answer or trace.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { WebhookIntake, WebhookVerdict } from '../../../src/driver/intake.ts';
import { oneHeader, refusedWebhook, type WebhookHeaders } from '../../../src/driver/webhook-request.ts';
import { sha256 } from '../../../src/lib/ids.ts';
import type { Secret } from '../../../src/lib/secret.ts';
import type { Json } from '../../../src/model/job.ts';
import { type GerritNotification, gerritNotificationJson } from './notification.ts';
import { reduceGerritEvent } from './reduce.ts';

const MOST_BYTES = 1024 * 1024;

/** @param tokens any of them counts: the present one, and during a rotation the previous one. */
export function createGerritWebhook({
  tokens,
  ratePerSecond,
}: {
  readonly tokens: readonly Secret[];
  readonly ratePerSecond: number;
}): WebhookIntake {
  return {
    maxBytes: MOST_BYTES,
    ratePerSecond,
    async verify(headers, body, queryToken) {
      const given = [queryToken?.reveal(), tokenOfHeader(headers)].filter(each => each !== undefined);
      if (given.length === 0)
        return refusedWebhook(401, 'the token is missing: add ?token= to the URL of the webhook');
      if (!given.some(each => isOneOf(each, tokens)))
        return refusedWebhook(401, 'the token is none of this connection');
      const type = oneHeader(headers, 'content-type');
      if (type !== undefined && !/^application\/json *(;|$)/i.test(type))
        return refusedWebhook(415, 'the body must be application/json');
      return read(body);
    },
  };
}

/** In a time that depends on neither; all tokens are compared. */
function isOneOf(given: string, tokens: readonly Secret[]): boolean {
  const digest = createHash('sha256').update(given).digest();
  const same = tokens.map(token =>
    timingSafeEqual(digest, createHash('sha256').update(token.reveal()).digest()),
  );
  return given !== '' && same.includes(true);
}

function tokenOfHeader(headers: WebhookHeaders): string | undefined {
  const [, scheme, value] = /^(Bearer|Basic) +(\S+)$/i.exec(oneHeader(headers, 'authorization') ?? '') ?? [];
  if (value === undefined) return undefined;
  if (scheme?.toLowerCase() === 'bearer') return value;
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(value, 'base64').toString('utf8')) ?? [];
  return password;
}

function read(body: Uint8Array): WebhookVerdict {
  let event: Json;
  try {
    event = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return refusedWebhook(400, 'the body is not JSON');
  }
  const reduction = reduceGerritEvent(event, 'webhook');
  switch (reduction.kind) {
    case 'ignored':
      return reduction;
    case 'broken':
      return refusedWebhook(400, reduction.reason);
    case 'notifications': {
      const { madeAt, notifications } = reduction;
      const [first] = notifications;
      if (first === undefined) return { kind: 'ignored', reason: 'the event names nothing' };
      // One event of several refs of a project: all of its branches are read.
      const notification: GerritNotification =
        notifications.length === 1 ? first : { ...first, about: { kind: 'project' } };
      return {
        kind: 'accepted',
        event: {
          // Equal bodies are one delivery that was repeated, or two events of one second: a listing finds what the second one changed.
          deliveryId: `webhook-${sha256(body).slice(0, 32)}`,
          type: notification.event,
          payload: gerritNotificationJson(notification),
          ...(madeAt === null ? {} : { madeAt }),
        },
      };
    }
  }
}
