/** What a request to a bucket needs. */
import type { S3Client } from '@aws-sdk/client-s3';

/** A client with the name of the bucket. */
export interface S3Access {
  /** Loaded when the first request needs it. */
  readonly sdk: typeof import('@aws-sdk/client-s3');
  readonly client: S3Client;
  readonly bucket: string;
  /** Of files that are sent in parts. */
  readonly partBytes: number;
}

/** Another time for each request of one operation. */
export type Limit = () => { readonly abortSignal: AbortSignal };
