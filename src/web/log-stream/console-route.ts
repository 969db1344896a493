/** What requests that are no WebSocket get at the path of one. */
import type { IncomingMessage } from 'node:http';
import type { Router } from 'express';
import type { Answer } from '../answer.ts';
import type { WebDeps } from '../deps.ts';
import { inTenant } from '../tenant-access.ts';

const UPGRADE_NEEDED: Answer = {
  kind: 'refused',
  status: 426,
  error: 'this is a WebSocket: open it with ws: or wss:, see the reference of the HTTP API',
  place: 'header upgrade',
  headers: { Upgrade: 'websocket' },
};

/** @param router of a tenant. */
export function addConsoleRoute(router: Router, deps: WebDeps): void {
  router.get(
    '/console-stream',
    inTenant(deps, async () => UPGRADE_NEEDED),
  );
}

/** Other requests for an upgrade are for protocols that we do not have, and are answered without it. */
export function isForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}
