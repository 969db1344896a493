/** What pipelines may say about connections of the `smtp` driver. */
import type { MessengerLanguages } from '../../src/driver/messenger.ts';
import { parseMailReporter } from './reporter-config.ts';

/** Part of the driver, and loaded without the rest of it by threads. */
export const smtpLanguages: MessengerLanguages = {
  name: 'smtp',
  takesNotices: true,
  config: { parseReporter: parseMailReporter },
};
