/** The options of `[connection NAME]` with `driver = webhook`, read once at the start. */
import type { OptionReader } from '../../src/lib/option-reader.ts';
import type { Secret } from '../../src/lib/secret.ts';

/** Valid, and with all defaults applied. */
export interface WebhookOptions {
  /** Who knows the address of a chat's webhook may write there. */
  readonly url: Secret;
  /** `json`: all of a report. `slack`: one line, as Slack, Mattermost and Rocket.Chat take it. */
  readonly format: 'json' | 'slack';
  /** Signs each message; undefined: messages are not signed. */
  readonly secret: Secret | undefined;
}

/** @returns undefined when something was invalid; the reader holds the reasons. */
export function readWebhookOptions(read: OptionReader): WebhookOptions | undefined {
  const url = read.secret('url');
  const format = read.oneOf('format', ['json', 'slack'], 'json');
  const secret = read.secret('secret');
  const wrong = url === undefined ? 'is required' : addressProblem(url.reveal());
  if (wrong !== undefined) read.refuse('url', wrong);
  return url === undefined || wrong !== undefined ? undefined : { url, format, secret };
}

/** In one clause, without the address itself. */
function addressProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'must be an address such as https://chat.example.org/hooks/x1y2';
  if (url.username !== '' || url.password !== '')
    return 'may hold no user and password: sign messages with "secret"';
  return undefined;
}
