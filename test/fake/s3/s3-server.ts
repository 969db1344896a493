/** A server that speaks S3, written by others, with one bucket. It checks signatures. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { Secret } from '../../../src/lib/secret.ts';
import type { BucketServer } from '../../conformance/log-bucket/suite.ts';

interface S3Server extends BucketServer {
  /** From now on it answers requests with these statuses, one after the other; with none it serves. */
  refuse(...statuses: readonly number[]): void;
}

export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-s3-'));
  const server = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory },
    configureBuckets: [{ name: 'ci-logs', configs: [] }],
  });
  let refusals: readonly number[] = [];
  let refused = 0;
  server.middleware.unshift(async (ctx, next) => {
    const status = refusals[refused % refusals.length];
    if (status === undefined) return next();
    refused += 1;
    ctx.status = status;
    ctx.body = '';
  });
  // Of a request for the bucket itself it signs the path without the slash at its end, which clients send.
  server.middleware.splice(-1, 0, (ctx, next) => {
    if (/^\/[^/]+\/$/.test(ctx.path)) {
      ctx.state.vhost = true;
      ctx.mountPath = '/';
    }
    return next();
  });
  const { port } = await server.run();
  return {
    port,
    settings: (at = port) => ({
      ...{ bucket: 'ci-logs', endpoint: `http://127.0.0.1:${at}`, region: 'us-east-1', prefix: 'gate/' },
      ...{ pathStyle: true, mostWaiting: 1_000_000 },
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: new Secret('S3RVER') },
    }),
    refuse(...statuses) {
      refusals = statuses;
      refused = 0;
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}
