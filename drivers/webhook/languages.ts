/** What pipelines may say about connections of the `webhook` driver. */
import type { MessengerLanguages } from '../../src/driver/messenger.ts';
import { parseWebhookReporter } from './reporter-config.ts';

/** Part of the driver, and loaded without the rest of it by threads. */
export const webhookLanguages: MessengerLanguages = {
  name: 'webhook',
  takesNotices: true,
  config: { parseReporter: parseWebhookReporter },
};
