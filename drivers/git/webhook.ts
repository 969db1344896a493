/**
 * `POST /api/connection/<name>/payload`: there was a push. Sent by `post-receive.sh`, or by any client that can sign.
 *
 *     X-Gatehouse-Signature: sha256=<hex HMAC-SHA256 of the raw body under webhook_token>
 *     X-Gatehouse-Delivery: <id of this delivery; the same id is processed once>
 *
 *     {"project": "acme/app"}
 *
 * The body names the project; refs in it are ignored. Without a delivery id the body identifies the delivery, so two pushes then
 * need two different bodies.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookIntake, WebhookVerdict } from '../../src/driver/intake.ts';
import { oneHeader, type RefusedWebhook, refusedWebhook } from '../../src/driver/webhook-request.ts';
import { sha256 } from '../../src/lib/ids.ts';
import type { Secret } from '../../src/lib/secret.ts';
import { projectNameProblem } from './project-url.ts';
import { refsChanged } from './refs-changed.ts';

const MOST_BYTES = 1024 * 1024;

/** @param token key of the signatures; a body is parsed only when its signature fits. */
export function createWebhook(token: Secret, ratePerSecond: number): WebhookIntake {
  return {
    maxBytes: MOST_BYTES,
    ratePerSecond,
    async verify(headers, body) {
      const forged = signatureProblem(oneHeader(headers, 'x-gatehouse-signature'), body, token);
      if (forged !== undefined) return refusedWebhook(401, forged);
      const type = oneHeader(headers, 'content-type');
      if (type !== undefined && !/^application\/json *(;|$)/i.test(type))
        return refusedWebhook(415, 'the body must be application/json');
      return readBody(body, oneHeader(headers, 'x-gatehouse-delivery'));
    },
  };
}

function signatureProblem(header: string | undefined, body: Uint8Array, token: Secret): string | undefined {
  if (header === undefined) return 'the header X-Gatehouse-Signature is missing';
  const hex = header.startsWith('sha256=') ? header.slice('sha256='.length) : undefined;
  // Checked first: the comparison below takes two texts of equal length only, and the length is no secret.
  if (hex === undefined || !/^[0-9a-f]{64}$/i.test(hex))
    return 'X-Gatehouse-Signature is not sha256= and 64 hex digits';
  const expected = createHmac('sha256', token.reveal()).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(hex, 'hex'))
    ? undefined
    : 'the signature does not match the body';
}

function readBody(body: Uint8Array, delivery: string | undefined): WebhookVerdict {
  const parsed = parseJson(body);
  if (parsed.kind === 'refused') return parsed;
  const { value } = parsed;
  const project =
    typeof value === 'object' && value !== null && 'project' in value ? value.project : undefined;
  if (typeof project !== 'string')
    return refusedWebhook(400, 'the body must be an object with a text "project"');
  if (projectNameProblem(project) !== undefined)
    return {
      kind: 'ignored',
      reason: `there can be no project of the name ${JSON.stringify(project.slice(0, 100))}`,
    };
  if (delivery !== undefined && !/^[\w.:-]{1,100}$/.test(delivery)) {
    return refusedWebhook(400, 'X-Gatehouse-Delivery must be 1 to 100 letters, digits or one of . _ : -');
  }
  return {
    kind: 'accepted',
    event: refsChanged(
      project,
      delivery === undefined ? `body-${sha256(body).slice(0, 32)}` : `delivery-${delivery}`,
    ),
  };
}

/** Deeper nesting than any body of ours. */
const DEEPEST = 64;

function parseJson(body: Uint8Array): { readonly kind: 'parsed'; readonly value: unknown } | RefusedWebhook {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return refusedWebhook(400, 'the body is not UTF-8');
  }
  if (depthOf(text) > DEEPEST) return refusedWebhook(400, `the body is nested more than ${DEEPEST} deep`);
  try {
    return { kind: 'parsed', value: JSON.parse(text) };
  } catch {
    return refusedWebhook(400, 'the body is not JSON');
  }
}

/** Depth of brackets anywhere; those inside texts only raise the count. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}
