/** The real server for `npm run test:s3`, named by the environment. */
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { Secret } from '../../src/lib/secret.ts';
import type { BucketServer } from '../conformance/log-bucket/suite.ts';

const HOW = `npm run test:s3 needs a server that speaks S3, on this machine:
  S3_ENDPOINT              its address, e.g. http://127.0.0.1:7070
  S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY
It has to check signatures. A bucket of the test is made there, and stays. With a Go toolchain, for example:
  go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
  ROOT_ACCESS_KEY=... ROOT_SECRET_KEY=... versitygw --port 127.0.0.1:7070 posix <an empty directory>`;

/** Called by Vitest before anything else of a run. @throws Error that says how to get a server, when none is named. */
export function setup(): void {
  named();
}

/** With a bucket of its own. */
export async function findS3(): Promise<BucketServer> {
  const { endpoint, accessKeyId, secret } = named();
  const bucket = `gatehouse-${process.pid}-${Date.now()}`;
  const credentials = { accessKeyId, secretAccessKey: secret };
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  const port = Number(new URL(endpoint).port);
  return {
    port,
    settings: (at = port) => ({
      ...{
        bucket,
        endpoint: `http://127.0.0.1:${at}`,
        region: 'us-east-1',
        prefix: 'gate/',
        pathStyle: true,
      },
      ...{ mostWaiting: 1_000_000, credentials: { accessKeyId, secretAccessKey: new Secret(secret) } },
    }),
    async [Symbol.asyncDispose]() {},
  };
}

function named(): { readonly endpoint: string; readonly accessKeyId: string; readonly secret: string } {
  const { S3_ENDPOINT: endpoint, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secret } = process.env;
  if (endpoint === undefined || accessKeyId === undefined || secret === undefined) throw new Error(HOW);
  return { endpoint, accessKeyId, secret };
}
