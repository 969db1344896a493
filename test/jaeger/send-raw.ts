/** The bytes of export requests once more, to another collector, by either protocol. */
import { Client, credentials } from '@grpc/grpc-js';
import type { Jaeger } from './start-jaeger.ts';

const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

export async function sendRaw(
  jaeger: Jaeger,
  protocol: 'grpc' | 'http/protobuf',
  bodies: readonly Buffer[],
): Promise<void> {
  if (protocol === 'http/protobuf') {
    for (const body of bodies) await post(`${jaeger.http}/v1/traces`, body);
    return;
  }
  const client = new Client(new URL(jaeger.grpc).host, credentials.createInsecure());
  for (const body of bodies) await call(client, body);
  client.close();
}

async function post(url: string, body: Buffer): Promise<void> {
  const headers = { 'Content-Type': 'application/x-protobuf' };
  const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
}

function call(client: Client, body: Buffer): Promise<void> {
  const same = (bytes: Buffer) => bytes;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(METHOD, same, same, body, error => (error === null ? resolve() : reject(error)));
  });
}
