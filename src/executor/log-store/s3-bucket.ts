/**
 * A bucket that speaks S3's protocol. The SDK takes a tenth of a second to load: nothing loads it but the first request.
 *
 * Payloads are signed, in parts of a few megabytes, so that the server notices what was changed on the way, and so that nothing depends
 * on the newer checksums, which many servers do not know.
 */
import { addAbortSignal, Readable } from 'node:stream';
import type { LogStoreSettings } from '../../settings/log-store-section.ts';
import type { LogBucket } from './log-bucket.ts';
import type { Limit, S3Access } from './s3-access.ts';
import { putContent } from './s3-put.ts';

/** Milliseconds for an answer to a request; a part of a file has as long. */
const ANSWER_LIMIT = 60_000;
/** A part but the last has at least five mebibytes, by the protocol. */
const PART = 8 * 1024 * 1024;
const CONNECT_LIMIT = 5_000;
/** Of one request, in a moment: who sends a file tries again later on. */
const TRIES = 2;

/** Asks nothing yet. @param limits milliseconds for an answer, and bytes of the parts of large files. */
export function openS3Bucket(
  settings: LogStoreSettings,
  {
    answerMs = ANSWER_LIMIT,
    partBytes = PART,
  }: { readonly answerMs?: number; readonly partBytes?: number } = {},
): LogBucket {
  const { bucket, prefix, endpoint } = settings;
  let access: Promise<S3Access> | undefined;
  const open = () => {
    access ??= connect(settings, partBytes);
    return access;
  };
  async function ask<T>(
    signal: AbortSignal,
    request: (access: S3Access, limit: Limit) => Promise<T>,
  ): Promise<T> {
    const opened = await open();
    try {
      return await request(opened, () => ({
        abortSignal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
      }));
    } catch (error) {
      throw failureOf(error);
    }
  }
  const place = `bucket ${bucket}${endpoint === undefined ? '' : ` at ${endpoint}`}`;
  return {
    place,
    put: (key, content, signal) =>
      ask(signal, (opened, limit) => putContent(opened, `${prefix}${key}`, content, limit)),
    get: (key, range, signal) =>
      ask(signal, async (opened, limit) => {
        const body = await getObject(opened, `${prefix}${key}`, range, limit());
        return body === undefined ? undefined : addAbortSignal(signal, body);
      }),
    list: (below, signal) =>
      ask(signal, async ({ sdk: { ListObjectsV2Command }, client }, limit) => {
        const listed = await client.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: `${prefix}${below}` }),
          limit(),
        );
        return (listed.Contents ?? []).flatMap(({ Key = '' }) => without(prefix, Key));
      }),
    folders: (below, signal) =>
      ask(signal, async ({ sdk: { ListObjectsV2Command }, client }, limit) => {
        const listed = await client.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: `${prefix}${below}`, Delimiter: '/' }),
          limit(),
        );
        return (listed.CommonPrefixes ?? []).flatMap(({ Prefix = '' }) =>
          without(`${prefix}${below}`, Prefix.replace(/\/$/, '')),
        );
      }),
    remove: (key, signal) =>
      ask(signal, async ({ sdk: { DeleteObjectCommand }, client }, limit) => {
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: `${prefix}${key}` }), limit());
      }),
    [Symbol.dispose]() {
      access?.then(
        ({ client }) => client.destroy(),
        () => undefined,
      );
    },
  };
}

async function connect(settings: LogStoreSettings, partBytes: number): Promise<S3Access> {
  const { bucket, endpoint, region, pathStyle, credentials } = settings;
  const loaded = await import('@aws-sdk/client-s3');
  const client = new loaded.S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined
      ? {}
      : {
          credentials: {
            accessKeyId: credentials.accessKeyId,
            secretAccessKey: credentials.secretAccessKey.reveal(),
          },
        }),
    forcePathStyle: pathStyle,
    maxAttempts: TRIES,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_LIMIT },
  });
  return { sdk: loaded, client, bucket, partBytes };
}

async function getObject(
  { sdk: { GetObjectCommand, NoSuchKey }, client, bucket }: S3Access,
  key: string,
  range: Parameters<LogBucket['get']>[1],
  limit: ReturnType<Limit>,
): Promise<Readable | undefined> {
  try {
    const Range = range === undefined ? undefined : `bytes=${range.from}-${range.to - 1}`;
    const { Body, ContentLength } = await client.send(
      new GetObjectCommand({ Bucket: bucket, Key: key, ...(Range === undefined ? {} : { Range }) }),
      limit,
    );
    if (!(Body instanceof Readable)) throw new Error('the answer has no body');
    if (range === undefined || ContentLength === range.to - range.from) return Body;
    Body.destroy();
    throw new Error('the answer is not the part that was asked for');
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

function without(prefix: string, key: string): readonly string[] {
  return key.startsWith(prefix) ? [key.slice(prefix.length)] : [];
}

/** What the bucket answered, in one line: nothing of the request, which is signed. */
function failureOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const metadata = '$metadata' in error ? Object(error.$metadata) : {};
  const status = typeof metadata.httpStatusCode === 'number' ? ` (${metadata.httpStatusCode})` : '';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return new Error('no answer in time');
  const message = error.message === 'UnknownError' || error.message === '' ? '' : `: ${error.message}`;
  return new Error(`${error.name}${status}${message}`.slice(0, 500));
}
