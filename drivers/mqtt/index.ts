/**
 * The `mqtt` driver: reports as messages of an MQTT broker, with Zuul's options and schema.
 *
 *     options.ts      [connection NAME]
 *     languages.ts    what pipelines say: reporter-config.ts
 *     message.ts      a report → topic and JSON
 *     broker.ts       the connection to the broker
 */
import type { Messenger, MessengerDriver } from '../../src/driver/messenger.ts';
import { createUnconfirmed } from '../../src/driver/unconfirmed.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { type Broker, createBroker } from './broker.ts';
import { mqttLanguages } from './languages.ts';
import { messageOf } from './message.ts';
import { readMqttOptions } from './options.ts';

const DEADLINES = { connect: 10_000, answer: 30_000 };

export const mqttDriver: MessengerDriver = {
  ...mqttLanguages,
  async connect(name, read, { clock }) {
    const options = readMqttOptions(read);
    return options === undefined ? undefined : openMqtt(name, createBroker(options, DEADLINES), clock);
  },
};

/** @param broker closed with it. */
export function openMqtt(name: string, broker: Broker, clock: Pick<Clock, 'now'>): Messenger {
  const unconfirmed = createUnconfirmed();
  return {
    name,
    driver: mqttLanguages.name,
    reporter: {
      async report(request, signal, mayAct = () => true) {
        const message = messageOf(request, clock.now());
        if (!mayAct()) throw new Error('another process may send this message');
        const sent = await broker.publish(message, signal);
        if (sent.kind === 'away') return { kind: 'later', reason: 'unreachable', text: sent.text };
        if (sent.kind === 'unconfirmed' && unconfirmed.mayRepeat(request))
          return { kind: 'later', reason: 'timeout', text: sent.text };
        unconfirmed.forget(request);
        return sent.kind === 'sent'
          ? { kind: 'done' }
          : {
              kind: 'failed',
              text: `the broker did not confirm a message that it may have taken: ${sent.text}`,
            };
      },
    },
    close: () => broker.close(),
  };
}
