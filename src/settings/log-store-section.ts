/** `[log_store]`: the bucket that keeps logs of builds once they have ended. */
import type { OptionReader } from '../lib/option-reader.ts';
import type { Secret } from '../lib/secret.ts';

/** The same at all executors and webs. */
export interface LogStoreSettings {
  readonly bucket: string;
  /** Undefined: that of AWS. */
  readonly endpoint: string | undefined;
  /** Undefined: as the SDK finds it, from `AWS_REGION` or its files. */
  readonly region: string | undefined;
  /** Before each key; empty, or with a slash at its end. */
  readonly prefix: string;
  /** Whether the bucket is in the path of an address, or in its host. */
  readonly pathStyle: boolean;
  /** Undefined: as the SDK finds them, from the environment, its files, or the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: Secret } | undefined;
  /** Bytes of logs that may wait at an executor. */
  readonly mostWaiting: number;
}

/** Undefined without a bucket: logs stay where their builds ran. */
export function readLogStore(read: OptionReader): LogStoreSettings | undefined {
  const bucket = read.string('bucket', '');
  const endpoint = read.url('endpoint', ['http', 'https']);
  const region = read.string('region', endpoint === undefined ? '' : 'us-east-1');
  const prefix = read.string('prefix', '').replace(/^\/+|\/+$/g, '');
  const settings = {
    ...{ bucket, endpoint },
    region: region === '' ? undefined : region,
    prefix: prefix === '' ? '' : `${prefix}/`,
    pathStyle: read.boolean('path_style', endpoint !== undefined),
    credentials: credentialsOf(read),
    mostWaiting: read.integer('max_waiting', { min: 1 }, 10_000) * 1_000_000,
  };
  if (bucket !== '' && !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    read.refuse(
      'bucket',
      `"${bucket}" is no name of a bucket: 3 to 63 lower-case letters, digits, "." and "-"`,
    );
  if (bucket !== '') return settings;
  const others = [
    'endpoint',
    'region',
    'prefix',
    'path_style',
    'access_key_id',
    'secret_access_key',
    'max_waiting',
  ];
  for (const option of others) if (read.has(option)) read.refuse(option, 'does nothing without bucket');
  return undefined;
}

function credentialsOf(read: OptionReader): LogStoreSettings['credentials'] {
  const accessKeyId = read.string('access_key_id', '');
  const secretAccessKey = read.secret('secret_access_key');
  if (accessKeyId !== '' && secretAccessKey !== undefined) return { accessKeyId, secretAccessKey };
  if (accessKeyId !== '') read.refuse('access_key_id', 'needs secret_access_key as well');
  if (secretAccessKey !== undefined) read.refuse('secret_access_key', 'needs access_key_id as well');
  return undefined;
}
