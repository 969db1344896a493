/** What pipelines may say about connections of the `mqtt` driver. */
import type { MessengerLanguages } from '../../src/driver/messenger.ts';
import { parseTopicReporter } from './reporter-config.ts';

/** Part of the driver, and loaded without the rest of it by threads. */
export const mqttLanguages: MessengerLanguages = {
  name: 'mqtt',
  config: { parseReporter: parseTopicReporter },
};
