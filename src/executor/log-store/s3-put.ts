/** One object into a bucket: at once where it is small, else in parts, of which never more than one is in memory. */
import { type FileHandle, open } from 'node:fs/promises';
import type { BucketContent } from './log-bucket.ts';
import type { Limit, S3Access } from './s3-access.ts';

/** The object appears whole, or not at all. @throws what the SDK throws, or an Error of the file system. */
export async function putContent(
  access: S3Access,
  key: string,
  content: BucketContent,
  limit: Limit,
): Promise<void> {
  if (content.kind === 'json')
    return putBytes(access, { key, type: 'application/json' }, Buffer.from(content.text), limit);
  const file = await open(content.path, 'r');
  try {
    const { size } = await file.stat();
    if (size <= access.partBytes) await putBytes(access, gzipped(key), await partOf(file, 0, size), limit);
    else await putParts(access, key, { file, size }, limit);
  } finally {
    await file.close();
  }
}

/** Headers of an object. */
interface ObjectHead {
  readonly key: string;
  readonly type: string;
  readonly encoding?: string;
}

function gzipped(key: string): ObjectHead {
  // The log is text; of other files only their readers here know the type.
  const type = key.endsWith('.txt.gz') ? 'text/plain; charset=utf-8' : 'application/octet-stream';
  return { key, type, encoding: 'gzip' };
}

function headersOf({ key, type, encoding }: ObjectHead) {
  return { Key: key, ContentType: type, ...(encoding === undefined ? {} : { ContentEncoding: encoding }) };
}

async function putBytes(
  { sdk: { PutObjectCommand }, client, bucket }: S3Access,
  head: ObjectHead,
  bytes: Buffer,
  limit: Limit,
): Promise<void> {
  await client.send(new PutObjectCommand({ Bucket: bucket, ...headersOf(head), Body: bytes }), limit());
}

interface LargeFile {
  readonly file: FileHandle;
  readonly size: number;
}

async function putParts(access: S3Access, key: string, large: LargeFile, limit: Limit): Promise<void> {
  const { sdk, client, bucket, partBytes } = access;
  await abortLeftovers(access, key, limit);
  const { UploadId } = await client.send(
    new sdk.CreateMultipartUploadCommand({ Bucket: bucket, ...headersOf(gzipped(key)) }),
    limit(),
  );
  try {
    const parts: { readonly PartNumber: number; readonly ETag: string | undefined }[] = [];
    for (let from = 0; from < large.size; from += partBytes) {
      const PartNumber = parts.length + 1;
      const Body = await partOf(large.file, from, Math.min(large.size, from + partBytes));
      const { ETag } = await client.send(
        new sdk.UploadPartCommand({ Bucket: bucket, Key: key, UploadId, PartNumber, Body }),
        limit(),
      );
      parts.push({ PartNumber, ETag });
    }
    const MultipartUpload = { Parts: parts };
    await client.send(
      new sdk.CompleteMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId, MultipartUpload }),
      limit(),
    );
  } catch (error) {
    // Parts that stay, also those of a process that died here, are for the next attempt.
    await client
      .send(new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId }), limit())
      .catch(() => undefined);
    throw error;
  }
}

/** Parts of an earlier attempt whose process died: no listing of objects shows them, and they cost what others cost. */
async function abortLeftovers({ sdk, client, bucket }: S3Access, key: string, limit: Limit): Promise<void> {
  const uploads = await client
    .send(new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key }), limit())
    .then(
      ({ Uploads = [] }) => Uploads,
      // A server that does not know it, or a key that may not: a rule of the bucket is left for them.
      () => [],
    );
  for (const { Key, UploadId } of uploads.filter(each => each.Key === key))
    await client
      .send(new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }), limit())
      .catch(() => undefined); // it was ended meanwhile
}

async function partOf(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
  if (bytesRead !== to - from) throw new Error('the file has become shorter');
  return buffer;
}
