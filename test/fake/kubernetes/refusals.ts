/** How the fake API server says no: a `Status`, as an answer or in place of a WebSocket. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { judged } from './schema.ts';

export type Refusal = readonly [status: number, reason: string, message: string];

/** In the words of RBAC. */
export function forbiddenTo(verb: string, resource: string, namespace: string, name?: string): Refusal {
  const what = name === undefined ? 'pods' : `pods "${name}"`;
  const act = `User "executor" cannot ${verb} resource "${resource}" in API group ""`;
  return [403, 'Forbidden', `${what} is forbidden: ${act} in the namespace "${namespace}"`];
}

export function refuse(response: ServerResponse, refusal: Refusal): void {
  sendJson(response, refusal[0], failureOf(refusal));
}

export function refuseSocket(socket: Duplex, refusal: Refusal): void {
  const body = JSON.stringify(failureOf(refusal));
  const head = `HTTP/1.1 ${refusal[0]} ${refusal[1]}\r\ncontent-type: application/json\r\nconnection: close`;
  socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

export function failureOf([code, reason, message]: Refusal): unknown {
  return judged({ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', reason, message, code });
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
