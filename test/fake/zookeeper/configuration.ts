/** The files a server is started with. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface ServerSettings {
  /** Everything it writes, in a folder of its own. */
  readonly folder: string;
  readonly clientPort: number;
  readonly tickMs: number;
  /** More lines of zoo.cfg. */
  readonly more: Readonly<Record<string, string | number>>;
  readonly tlsPort?: number;
  /** Number of a member of an ensemble. */
  readonly myId?: number;
}

/** Distributions bring logback, which without a configuration prints every packet. */
const LOGBACK = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%p %c - %m%n</pattern></encoder></appender>
  <root level="WARN"><appender-ref ref="out" /></root>
</configuration>
`;

/** @returns the path of zoo.cfg; its folder belongs on the class path. */
export async function writeConfiguration(settings: ServerSettings): Promise<string> {
  const { folder, clientPort, tickMs, more, myId } = settings;
  const conf = path.join(folder, 'conf');
  await mkdir(conf, { recursive: true });
  await mkdir(path.join(folder, 'data'), { recursive: true });
  const lines = Object.entries({
    tickTime: tickMs,
    // Sessions end at a multiple of the tick. Without these the limits would be 2 and 20 ticks.
    minSessionTimeout: 2 * tickMs,
    maxSessionTimeout: 60_000,
    dataDir: path.join(folder, 'data'),
    clientPort,
    clientPortAddress: '127.0.0.1',
    maxClientCnxns: 0,
    'admin.enableServer': 'false',
    '4lw.commands.whitelist': '*',
    ...more,
  }).map(([key, value]) => `${key}=${value}\n`);
  const file = path.join(conf, 'zoo.cfg');
  await writeFile(file, lines.join(''));
  await writeFile(path.join(conf, 'logback.xml'), LOGBACK);
  if (myId !== undefined) await writeFile(path.join(folder, 'data', 'myid'), String(myId));
  return file;
}

/** Writes the PEM stores into `folder`. @returns the lines of zoo.cfg that use them. */
export async function tlsConfiguration(
  folder: string,
  port: number | undefined,
  tls: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer } | undefined,
): Promise<Readonly<Record<string, string | number>>> {
  if (tls === undefined || port === undefined) return {};
  const keyStore = path.join(folder, 'key.pem');
  const trustStore = path.join(folder, 'trust.pem');
  await writeFile(keyStore, Buffer.concat([tls.key, tls.cert]));
  await writeFile(trustStore, tls.ca);
  return {
    serverCnxnFactory: 'org.apache.zookeeper.server.NettyServerCnxnFactory',
    secureClientPort: port,
    secureClientPortAddress: '127.0.0.1',
    'ssl.keyStore.location': keyStore,
    'ssl.keyStore.type': 'PEM',
    'ssl.trustStore.location': trustStore,
    'ssl.trustStore.type': 'PEM',
    'ssl.clientAuth': 'need',
  };
}
