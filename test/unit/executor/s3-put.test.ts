/** Large files into a bucket, by what the server is asked; what it answers is in the suite of buckets. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sdk from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import type { S3Access } from '../../../src/executor/log-store/s3-access.ts';
import { putContent } from '../../../src/executor/log-store/s3-put.ts';

interface Asked {
  readonly constructor: { readonly name: string };
  readonly input: { readonly Key?: string; readonly UploadId?: string; readonly Prefix?: string };
}

/** @param uploads that nothing has ended; an error: the server refuses to list them. @returns what was asked. */
async function put(uploads: readonly { readonly Key: string; readonly UploadId: string }[] | Error) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-s3-put-'));
  try {
    const path = join(folder, 'log.gz');
    await writeFile(path, 'a log in parts');
    const asked: string[] = [];
    const send = async ({ constructor: { name }, input }: Asked) => {
      asked.push([name.replace('Command', ''), input.UploadId ?? input.Prefix ?? input.Key].join(' '));
      if (name !== 'ListMultipartUploadsCommand') return { UploadId: 'new', ETag: '"e"' };
      if (uploads instanceof Error) throw uploads;
      return { Uploads: uploads };
    };
    const access = { sdk, client: { send }, bucket: 'logs', partBytes: 8 } as unknown as S3Access;
    const limit = () => ({ abortSignal: new AbortController().signal });
    await putContent(access, 'builds/1/log.gz', { kind: 'file', path }, limit);
    return asked;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const WHOLE = [
  'ListMultipartUploads builds/1/log.gz',
  'CreateMultipartUpload builds/1/log.gz',
  'UploadPart new',
  'UploadPart new',
  'CompleteMultipartUpload new',
];

test('parts of an earlier attempt are removed before the file is sent again, those of other files are not', async () => {
  const asked = await put([
    { Key: 'builds/1/log.gz', UploadId: 'old' },
    { Key: 'builds/1/log.gz.other', UploadId: 'other' },
  ]);
  expect(asked).toEqual([WHOLE[0], 'AbortMultipartUpload old', ...WHOLE.slice(1)]);
});

test('a server that does not list parts gets the file all the same', async () => {
  expect(await put(new Error('NotImplemented'))).toEqual(WHOLE);
});
