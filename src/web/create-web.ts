/**
 * The HTTP server: takes webhooks and operators' requests, serves documents and the page. It keeps no state and decides nothing.
 *
 *     const web = createWeb(deps);
 *     const { port } = await web.listen({ address: '127.0.0.1', port: 0 });
 *     await web.listenLocally('/var/lib/gatehouse/gatehouse.sock');
 *     await web.close();
 *
 * Two listeners serve the same routes: the port, where only a token grants authority, and the Unix socket of this machine's command
 * line, where the mode of the file does (auth/caller.ts).
 *
 * Paths are Zuul's if Zuul has one (`/api`, see global-routes.ts for the list); the page is at `/`.
 * Bad input is answered 4xx with `{error, place}`; 500 is an internal error, which is logged.
 *
 * Map of this room:
 *
 *     create-web.ts, deps.ts, answer.ts, query.ts   the server, its dependencies, answers, query parameters: read these first
 *     *-route, *-routes                             one route, or a group of routes, each; documents come from `src/api`. What they share:
 *                                                   named-item.ts, named-pipeline.ts, project-named.ts, history-filter.ts, forecasts.ts, since.ts, operator-request.ts, cost-answer.ts, expected-durations.ts, test-results.ts, info-json.ts
 *     auth/                                         who sends a request, and what they may do (guard.ts before all routes, permission.ts, fits-rule.ts); tenant-access.ts,
 *                                                   client-address.ts
 *     live-feed.ts, event-streams.ts                server-sent events; tenant-documents.ts: the documents sent
 *     log-stream/                                   logs of builds for many readers: shared-logs; console-streams (console-route, console-request): Zuul's WebSocket
 *     log-files/                                    what builds left, below their log_url: log-files-route (file-type, manifest)
 *     connection-limits.ts, take-turns.ts, span-quota.ts, shared-answers.ts, shared-making.ts    bounds, so that no client delays another;
 *                                                   headers.ts, doubled-slashes.ts
 *     local-socket.ts, graceful-close.ts            listening and closing; store-contact.ts, lost-call.ts, lost-logs.ts: the store, the history, the bucket of logs is away
 *     accept-spans.ts, items-of-trace.ts, otlp-json.ts                spans in and out
 *     page-files.ts, page-bundle.ts, page-routes.ts, page-exists.ts, page/    the status page, served as few files
 *
 * Nothing here reads the store: `deps.ts` hands over memory copies and functions. A page module imports types and page modules only.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, Router } from 'express';
import { addressRanges } from '../lib/address-ranges.ts';
import { nodeHttp } from '../lib/node-http.ts';
import { badRequest, notFound, send } from './answer.ts';
import type { Authentication, ListenerKind } from './auth/caller.ts';
import { expiryOf, guardNamesOfTenants, guardRoot, guardTenant } from './auth/guard.ts';
import { addTenantAuthorizationsRoute } from './authorization-routes.ts';
import { addBadgeRoute } from './badge-route.ts';
import { addChecksRoute } from './checks-route.ts';
import { addCompareRoute } from './compare-route.ts';
import { addComponentRoutes, componentActionRoute } from './component-routes.ts';
import { type ConnectionLimits, limitConnections } from './connection-limits.ts';
import { addDelaysRoute } from './delays-route.ts';
import type { WebDeps } from './deps.ts';
import { mergeDoubledSlashes } from './doubled-slashes.ts';
import { type EventStreams, eventStreams } from './event-streams.ts';
import { expectedDurations } from './expected-durations.ts';
import { addForecastRoutes } from './forecast-routes.ts';
import { type Forecasts, forecasts } from './forecasts.ts';
import { addFreezeRoutes } from './freeze-routes.ts';
import { addGlobalRoutes } from './global-routes.ts';
import { type GracefulClose, gracefulClose } from './graceful-close.ts';
import { readableFromAnywhere, securityHeaders } from './headers.ts';
import { addHealthRoutes } from './health-routes.ts';
import { addHistoryRoutes } from './history-routes.ts';
import { addHoldRoutes } from './hold-routes.ts';
import { addItemRoutes } from './item-routes.ts';
import { addJobRoutes } from './job-routes.ts';
import { addKeyRoutes } from './key-routes.ts';
import { type LocalSocket, listenLocally } from './local-socket.ts';
import { addLogFilesRoute } from './log-files/log-files-route.ts';
import { addConsoleRoute, isForWebSocket } from './log-stream/console-route.ts';
import { consoleStreams } from './log-stream/console-streams.ts';
import { sharedLogs } from './log-stream/shared-logs.ts';
import { refusalForLostCall } from './lost-call.ts';
import { refusalForLostLogs } from './lost-logs.ts';
import { addMetricsRoute } from './metrics-route.ts';
import { addNodeRoutes, nodeActionRoute } from './node-routes.ts';
import { addOpenApiRoutes } from './openapi-routes.ts';
import { addOperatorRoutes } from './operator-routes.ts';
import { otlpRoute } from './otlp-route.ts';
import { addPageRoutes } from './page-routes.ts';
import { type SpanQuota, spanQuota } from './span-quota.ts';
import { addStatusRoutes } from './status-routes.ts';
import { markWhatIsOld, refusalForLostContact, refuseUntilKnown } from './store-contact.ts';
import { takeTurns } from './take-turns.ts';
import { addTestRoutes } from './test-results.ts';
import { webhookRoute } from './webhook-route.ts';
import { addAbsentRoutes } from './zuul-absent-routes.ts';

/** Listens only when asked to; port and socket are independent of each other. */
export interface Web {
  /** @throws when the address is in use or not one of this machine. */
  listen(where: { readonly address: string; readonly port: number }): Promise<{ readonly port: number }>;
  /** Listens for the command line; `taken`: another process answers there. @throws an error of the file system. */
  listenLocally(path: string): Promise<'listening' | 'taken'>;
  /** Ends event streams, lets other requests finish, and frees port and socket. */
  close(): Promise<void>;
}

/** Bounds against clients that are slow or many. From `[web]`; what it does not set has the default named here. */
export interface WebLimits extends Partial<ConnectionLimits> {
  /** Addresses and CIDR ranges of proxies whose `X-Forwarded-For` is trusted. Default none. */
  readonly trustedProxies?: readonly string[];
  /** Milliseconds within which a request must arrive. Default 10 s. */
  readonly requestTimeout?: number;
  /** Milliseconds after which a silent connection is cut, except for streams. Default 2 min. */
  readonly silenceTimeout?: number;
  /** Of one connection; then the client opens another one. Default 1000. */
  readonly maxRequestsPerSocket?: number;
  /** Milliseconds after which `close` cuts open requests. Default 5 s. */
  readonly closeTimeout?: number;
}

/** Milliseconds an idle connection is kept for the next request. */
const KEEP_ALIVE_MS = 5000;

/** Follows changes of the deps and reads the page's files at once; takes requests from the first `listen` on. */
export function createWeb(deps: WebDeps, limits: WebLimits = {}): Web {
  const expected = expectedDurations(deps);
  const proxies = addressRanges(limits.trustedProxies ?? []);
  const forecast = forecasts({ ...deps, expected });
  const streams = eventStreams({ ...deps, expected, forecasts: forecast, proxies, run: deps.clock.now() });
  const quota = spanQuota(deps.clock);
  // Its own clock: it measures how old an answer is, not what it says.
  const logs = sharedLogs({ readLog: deps.readLog, clock: { monotonic: () => performance.now() } });
  const consoles = consoleStreams({ ...deps, logs, proxies });
  const parts = { streams, expected, forecast, quota };
  const shared: WebDeps = { ...deps, readLog: question => logs.read(question) };
  const requestTimeout = limits.requestTimeout ?? 10_000;
  const open = (listener: ListenerKind): OpenServer => {
    const options = {
      shouldUpgradeCallback: isForWebSocket,
      requestTimeout,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(1000, requestTimeout),
      maxHeaderSize: 16_384,
      keepAliveTimeout: KEEP_ALIVE_MS,
    };
    const server = nodeHttp.createServer(
      options,
      takeTurns(application(shared, parts, listener), deps.clock),
    );
    const auth = { ...deps.auth, listener };
    server.on('upgrade', (request, socket, head) => consoles.upgrade(request, socket, head, auth));
    server.timeout = limits.silenceTimeout ?? 120_000;
    server.maxRequestsPerSocket = limits.maxRequestsPerSocket ?? 1000;
    return { server, stopping: gracefulClose(server) };
  };
  const port = open('port');
  const { maxConnections = 2000, maxConnectionsPerAddress = 100 } = limits;
  limitConnections(port.server, { maxConnections, maxConnectionsPerAddress }, proxies);
  const local = open('socket');
  let socket: LocalSocket | undefined;
  return {
    listen: where => listen(port.server, where),
    async listenLocally(path) {
      const opened = await listenLocally(local.server, path);
      if (opened === 'taken') return 'taken';
      socket = opened;
      return 'listening';
    },
    async close() {
      streams.close();
      consoles.close();
      const timeout = limits.closeTimeout ?? 5000;
      await socket?.remove();
      await Promise.all([port.stopping.close(timeout), local.stopping.close(timeout)]);
    },
  };
}

interface OpenServer {
  readonly server: Server;
  readonly stopping: GracefulClose;
}

interface Parts {
  readonly streams: EventStreams;
  readonly expected: ReturnType<typeof expectedDurations>;
  readonly forecast: Forecasts;
  readonly quota: SpanQuota;
}

/** @param listener by which requests come; it alone decides whether a request without a token has authority. */
function application(deps: WebDeps, parts: Parts, listener: ListenerKind): Express {
  const app = express();
  app.disable('x-powered-by');
  // Parameters are read by query.ts; Express' own parsing would make objects of them.
  app.set('query parser', false);
  app.use(securityHeaders);
  addHealthRoutes(app, deps);
  const auth = { ...deps.auth, listener };
  app.get('/metrics', guardNamesOfTenants(auth));
  addMetricsRoute(app, deps);
  addOpenApiRoutes(app, deps);
  app.use('/api', mergeDoubledSlashes, readableFromAnywhere, apiRoutes({ ...deps, auth }, parts));
  if (listener === 'port') addPageRoutes(app, deps);
  app.use(unknownPath);
  app.use(answerErrors(deps));
  return app;
}

function apiRoutes(
  deps: WebDeps & { readonly auth: Authentication },
  { streams, expected, forecast, quota }: Parts,
): Router {
  const api = Router();
  const { auth } = deps;
  api.use('/tenant/:tenant', guardTenant(auth));
  api.route('/connection/:name/payload').post(webhookRoute(deps)).all(onlyBy('POST'));
  addOperatorRoutes(api, deps, onlyBy);
  addAbsentRoutes(api, onlyBy);
  addSharedRoutes(api, deps);
  api
    .route('/otlp/v1/traces')
    .post(otlpRoute({ ...deps, quota }))
    .all(onlyBy('POST'));
  api.use(onlyReading);
  api.use(markWhatIsOld(deps));
  // What the tenant file says of readers is known from the store.
  api.use(['/tenants', '/components', '/connections', '/authorizations', '/tenant'], refuseUntilKnown(deps));
  api.use(guardRoot(auth));
  addGlobalRoutes(api, deps);
  addComponentRoutes(api, deps);

  const tenant = Router({ mergeParams: true });
  addStatusRoutes(tenant, deps, expected);
  addItemRoutes(tenant, deps, expected);
  addCompareRoute(tenant, deps);
  addHistoryRoutes(tenant, deps);
  addTestRoutes(tenant, deps);
  addLogFilesRoute(tenant, deps);
  addChecksRoute(tenant, deps, expected);
  addDelaysRoute(tenant, deps);
  addJobRoutes(tenant, deps);
  addForecastRoutes(tenant, deps, forecast);
  addBadgeRoute(tenant, deps);
  addFreezeRoutes(tenant, deps);
  addKeyRoutes(tenant, deps);
  addNodeRoutes(tenant, deps);
  addTenantAuthorizationsRoute(tenant, auth);
  addConsoleRoute(tenant, deps);
  addHoldRoutes(tenant, deps);
  tenant.get<{ readonly tenant: string }>('/events', async (request, response) => {
    const name = request.params.tenant;
    if (deps.snapshot(name) === undefined)
      return send(response, notFound(`there is no tenant ${JSON.stringify(name)}`, 'path: tenant'));
    await streams.serve(name, request, response, expiryOf(response));
  });
  api.use('/tenant/:tenant', tenant);
  return api;
}

/** About what serves all tenants. */
function addSharedRoutes(api: Router, deps: WebDeps & { readonly auth: Authentication }): void {
  const { askComponent } = deps;
  if (askComponent !== undefined)
    api
      .route('/components/:id/:action')
      .post(componentActionRoute({ ...deps, askComponent }))
      .all(onlyBy('POST'));
  const { holdNode } = deps;
  if (holdNode !== undefined)
    api
      .route('/nodes/:node/:deed')
      .post(nodeActionRoute({ ...deps, holdNode }))
      .all(onlyBy('POST'));
}

function onlyBy(method: string): RequestHandler {
  return (request, response) =>
    send(response, {
      kind: 'refused',
      status: 405,
      error: `${request.method} is not allowed here; use ${method}`,
      place: 'method',
      headers: { Allow: method },
    });
}

const onlyReading: RequestHandler = (request, response, next) =>
  request.method === 'GET' || request.method === 'HEAD' ? next() : onlyBy('GET')(request, response, next);

const unknownPath: RequestHandler = (request, response) =>
  send(response, notFound(`no such path: ${request.path.slice(0, 200)}; /api lists the paths`, 'path'));

/** Last handler of all routes: requests that Express refuses (a malformed path), and internal errors. */
function answerErrors({ log }: Pick<WebDeps, 'log'>): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : 500;
    if (typeof status === 'number' && status >= 400 && status < 500)
      return send(response, badRequest('the request is malformed', 'path'));
    const lostContact = refusalForLostContact(error);
    if (lostContact !== undefined) return send(response, lostContact);
    const tooMuch = refusalForLostCall(error);
    if (tooMuch !== undefined) {
      log.warn({ err: error, path: request.path }, 'a query of the history was aborted');
      return send(response, tooMuch);
    }
    const lostLogs = refusalForLostLogs(error);
    if (lostLogs !== undefined) {
      log.warn({ err: error, path: request.path }, 'a log of a build cannot be read now');
      return send(response, lostLogs);
    }
    log.warn({ err: error, method: request.method, path: request.path }, 'internal server error');
    send(response, {
      kind: 'refused',
      status: 500,
      error: 'Internal server error; see the log of the service',
      place: 'server',
    });
  };
}

async function listen(
  server: Server,
  where: { readonly address: string; readonly port: number },
): Promise<{ readonly port: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(where.port, where.address, resolve);
  await promise;
  server.off('error', reject);
  const address: AddressInfo | string | null = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : where.port };
}
