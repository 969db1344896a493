/**
 * The `webhook` driver: reports as requests to a chat (Slack, Mattermost, Rocket.Chat) or to a program.
 *
 *     options.ts      [connection NAME]
 *     languages.ts    what pipelines say: reporter-config.ts
 *     message.ts      a report → headers and JSON
 *     post.ts         a message → what came of it
 *
 * A receiver that does not serve, or does not know us, is asked again for a day (`src/scheduler/report/report-loop.ts`); one that
 * refuses the message has had its say.
 */
import type { Messenger, MessengerDriver } from '../../src/driver/messenger.ts';
import { createUnconfirmed } from '../../src/driver/unconfirmed.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { webhookLanguages } from './languages.ts';
import { postedMessage } from './message.ts';
import { readWebhookOptions, type WebhookOptions } from './options.ts';
import { poster } from './post.ts';

const TIMEOUT_MS = 30_000;

export const webhookDriver: MessengerDriver = {
  ...webhookLanguages,
  async connect(name, read, { clock }) {
    const options = readWebhookOptions(read);
    return options === undefined ? undefined : openWebhook(name, options, clock, TIMEOUT_MS);
  },
};

/** @param timeoutMs of one request. */
export function openWebhook(
  name: string,
  options: WebhookOptions,
  clock: Pick<Clock, 'now'>,
  timeoutMs: number,
): Messenger {
  const post = poster(options.url, clock, timeoutMs);
  const unconfirmed = createUnconfirmed();
  const closing = new AbortController();
  return {
    name,
    driver: webhookLanguages.name,
    reporter: {
      async report(request, signal, mayAct = () => true) {
        const message = postedMessage(request, options, clock.now());
        if (!mayAct()) throw new Error('another process may send this message');
        const posted = await post(message, AbortSignal.any([signal, closing.signal]));
        if (posted.kind === 'away') return { ...posted, kind: 'later' };
        if (posted.kind === 'unconfirmed' && unconfirmed.mayRepeat(request))
          return { kind: 'later', reason: 'timeout', text: posted.text };
        unconfirmed.forget(request);
        if (posted.kind === 'taken') return { kind: 'done' };
        if (posted.kind === 'refused') return { kind: 'failed', text: posted.text };
        return {
          kind: 'failed',
          text: `a message may have been taken, and was not confirmed: ${posted.text}`,
        };
      },
    },
    async close() {
      closing.abort(new Error('the connection is closed'));
    },
  };
}
