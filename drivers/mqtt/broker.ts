/** One connection to a broker, opened with the first message and again after it has gone. */
import mqtt, { type MqttClient } from 'mqtt';
import type { Message } from './message.ts';
import type { MqttOptions } from './options.ts';

/** What came of a message; `text` is one line without secrets. */
type Published =
  | { readonly kind: 'sent' }
  /** `away`: the broker has nothing of it. `unconfirmed`: it may have. */
  | { readonly kind: 'away' | 'unconfirmed'; readonly text: string };

/** In the memory of one process. */
export interface Broker {
  publish(message: Message, signal: AbortSignal): Promise<Published>;
  close(): Promise<void>;
}

/** Milliseconds to connect, and for the broker's answer. */
export interface BrokerDeadlines {
  readonly connect: number;
  readonly answer: number;
}

export function createBroker(options: MqttOptions, { connect, answer }: BrokerDeadlines): Broker {
  let opening: Promise<MqttClient> | undefined;

  function open(): Promise<MqttClient> {
    if (opening !== undefined) return opening;
    const own = mqtt.connectAsync('mqtt://localhost', settingsOf(options, connect), false).then(client => {
      // Errors of an open connection end it, which is what counts.
      client.on('error', () => {});
      client.on('close', () => drop(own));
      return client;
    });
    opening = own;
    return own;
  }

  /** One that has gone already makes room for no other. */
  function drop(gone: Promise<MqttClient>): void {
    if (opening === gone) opening = undefined;
    void gone.then(client => client.end(true)).catch(() => {});
  }

  return {
    async publish({ topic, qos, payload }, signal) {
      const own = open();
      let client: MqttClient;
      try {
        client = await within(own, connect + 1_000, signal);
      } catch (error) {
        drop(own);
        signal.throwIfAborted();
        return { kind: 'away', text: textOf(error, options) };
      }
      if (!client.connected) {
        drop(own);
        return { kind: 'away', text: 'the connection to the broker has gone' };
      }
      try {
        await within(client.publishAsync(topic, payload, { qos }), answer, signal);
        return { kind: 'sent' };
      } catch (error) {
        drop(own);
        signal.throwIfAborted();
        return { kind: 'unconfirmed', text: textOf(error, options) };
      }
    },
    async close() {
      if (opening !== undefined) drop(opening);
    },
  };
}

function settingsOf(
  { server, port, keepalive, clientId, user, password, tls }: MqttOptions,
  connect: number,
) {
  return {
    ...{
      host: server,
      port,
      keepalive,
      protocol: tls === undefined ? ('mqtt' as const) : ('mqtts' as const),
    },
    ...(clientId === undefined ? {} : { clientId }),
    ...(user === undefined ? {} : { username: user }),
    ...(password === undefined ? {} : { password: password.reveal() }),
    ...(tls ?? {}),
    ...{ connectTimeout: connect, reconnectPeriod: 0, queueQoSZero: false },
  };
}

async function within<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`the broker did not answer within ${ms / 1000} s`)), ms);
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function textOf(error: unknown, { password }: MqttOptions): string {
  const text =
    (error instanceof Error && error.message !== '' ? error.message : String(error)).split('\n')[0] ?? '';
  const secret = password?.reveal() ?? '';
  return secret === '' ? text : text.replaceAll(secret, '***');
}
