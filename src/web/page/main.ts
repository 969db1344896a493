/**
 * The page: reads the address, shows one view, and keeps it live.
 *
 *     /                        the first tenant
 *     /t/<tenant>              its pipelines               board.ts
 *     /t/<tenant>/item/<uuid>  one item                    item-view.ts
 *     /t/<tenant>/build/<uuid> the log of a build          log-view.ts
 *     /t/<tenant>/pipeline/<p> where its time went         delays-view.ts
 *     /t/<tenant>/config-errors                            errors-view.ts
 *     /t/<tenant>/semaphores                               semaphores-view.ts
 *
 * Map of this room:
 *
 *     dom.ts, format.ts, address.ts     elements, numbers and times as text, addresses: every view uses them;
 *                                       header.ts, back-to-queues.ts; ticking.ts, ticks.ts and time-bar.ts: times that go on
 *     live.ts                           the live documents of a tenant; live-feed.ts, shared-streams.ts, live-worker.ts and
 *                                       tenant-stream.ts bring them, one stream per browser; messages.ts: what they exchange
 *     board.ts, item-card.ts            the board; forecast-line.ts; item-view.ts: an item, from item-head.ts, time-panel.ts, critical-path.ts,
 *                                       waterfall.ts (trace.ts reads its spans) and decision-list.ts
 *     log-view.ts                       a log: log-lines.ts, ansi.ts, artifact-list.ts
 *     delays-view.ts                    a pipeline's delays: load-chart.ts, culprits.ts
 *     account.ts                        signing in and out: sign-in.ts, session.ts; token-source.ts and event-lines.ts: a stream with a token
 *
 * A view is a {@link View}; it draws from live documents and fetches the rest. Nothing here uses `innerHTML` or inline styles in
 * markup: the content security policy allows neither.
 */
import type { BuildsetDocument } from '../../api/builds.ts';
import type { TenantsDocument } from '../../api/service.ts';
import { SignInControls } from './account.ts';
import { api, currentPlace, fetchJson, fetchTenants, needsToken, pages } from './address.ts';
import { Board } from './board.ts';
import { DelaysView } from './delays-view.ts';
import { element, show } from './dom.ts';
import { ErrorsView } from './errors-view.ts';
import { clock } from './format.ts';
import { headerContent } from './header.ts';
import { ItemView } from './item-view.ts';
import { Live } from './live.ts';
import { LogView } from './log-view.ts';
import type { View } from './messages.ts';
import { SemaphoresView } from './semaphores-view.ts';
import { sessionToken } from './session.ts';

const main = part('main');
const header = part('header');
const banner = part('banner');

/** Milliseconds between two checks for a first tenant. */
const NO_TENANT_MS = 1000;

/** Without its token the followed tenant is read again, as by a stranger. */
const account = new SignInControls(() => {
  live?.close();
  live = undefined;
  void open();
});
let tenants: TenantsDocument = [];
let live: Live | undefined;
let liveTenant: string | undefined;
let view: View | undefined;
/** The followed tenant is private, or does not exist. */
let isPrivate = false;

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`index.html has no #${id}`);
  return found;
}

async function start(): Promise<void> {
  await account.open();
  tenants = await fetchTenants().catch(() => []);
  document.addEventListener('click', followRoute);
  window.addEventListener('popstate', () => void open());
  setInterval(() => view?.tick(), 1000);
  await open();
}

async function open(): Promise<void> {
  const place = currentPlace();
  const tenant = place.tenant ?? tenants[0]?.name;
  view?.close();
  view = undefined;
  if (tenant === undefined) return showNoTenant();
  const live = follow(tenant);
  window.scrollTo(0, 0);
  document.title =
    place.page === 'board' || place.page === 'none'
      ? `${tenant} · Gatehouse`
      : `${place.page} · ${tenant} · Gatehouse`;
  if (place.page === 'item') view = new ItemView(main, tenant, place.uuid, live);
  else if (place.page === 'build') view = new LogView(main, tenant, place.uuid, live);
  else if (place.page === 'pipeline') view = new DelaysView(main, tenant, place.name);
  else if (place.page === 'errors') view = new ErrorsView(main, tenant);
  else if (place.page === 'semaphores') view = new SemaphoresView(main, tenant);
  else if (place.page === 'buildset') await openBuildset(tenant, place.uuid, live);
  else view = new Board(main, tenant, live);
}

/** Reports link to buildsets, but people look for the item. */
async function openBuildset(tenant: string, uuid: string, live: Live): Promise<void> {
  const buildset = await fetchJson<BuildsetDocument>(api(tenant, `buildset/${uuid}`)).catch(() => undefined);
  const item = buildset?.gatehouse.item;
  if (item === undefined) return show(main, element('p', { class: 'quiet' }, 'There is no such buildset.'));
  window.history.replaceState(null, '', pages.item(tenant, item));
  view = new ItemView(main, tenant, item, live);
}

function follow(tenant: string): Live {
  if (live !== undefined && liveTenant === tenant) {
    drawHeader();
    return live;
  }
  live?.close();
  liveTenant = tenant;
  isPrivate = false;
  live = new Live(tenant, {
    onChange: changed => {
      if (changed === null || changed.has('tenant')) {
        drawHeader();
        drawBanner();
      }
      view?.update(changed);
    },
    onConnection: connected => {
      if (!connected) void askWhether(tenant);
      drawBanner();
      drawHeader();
    },
  });
  drawHeader();
  return live;
}

/** A stream says only that it was refused. */
async function askWhether(tenant: string): Promise<void> {
  const found = await needsToken(tenant).catch(() => false);
  if (tenant !== liveTenant) return;
  isPrivate = found;
  drawBanner();
}

/** Why the page is stale; hidden if it is not. */
function drawBanner(): void {
  const text = staleReason();
  banner.hidden = text === undefined;
  if (text !== undefined) show(banner, text);
}

function staleReason(): string | undefined {
  const failed = account.problem === undefined ? '' : `Not signed in: ${account.problem} `;
  if (live === undefined) return failed === '' ? undefined : failed;
  if (!live.connected && isPrivate) return `${failed}${privateReason()}`;
  if (failed !== '' && live.connected) return failed;
  if (!live.connected && live.heardAt === 0) return `No data of tenant ${liveTenant} yet; trying again …`;
  if (!live.connected) return `Connection lost; showing the state of ${clock(live.heardAt)}. Trying again …`;
  const since = live.tenant()?.awaySince ?? null;
  if (since === null) return undefined;
  return `The service lost contact with its store; showing the state of ${clock(since)}. Trying again …`;
}

function privateReason(): string {
  if (sessionToken() !== undefined)
    return `You may not read tenant ${liveTenant}, or there is no such tenant.`;
  return account.isOffered
    ? `Reading tenant ${liveTenant} takes signing in, or there is no such tenant.`
    : `Reading tenant ${liveTenant} takes a token, or there is no such tenant. This page has no issuer to sign in at: use the command line or the API.`;
}

function drawHeader(): void {
  const controls = account.controls(() => drawBanner());
  show(header, headerContent({ tenants, tenant: liveTenant, live, go, account: controls }));
}

/** Shown until there is a tenant: a service that has just started knows none. */
function showNoTenant(): void {
  drawHeader();
  setTimeout(() => void retryTenants(), NO_TENANT_MS);
  show(
    main,
    element(
      'div',
      { class: 'empty' },
      element('h2', {}, 'No tenant yet'),
      element(
        'p',
        {},
        'The tenant file names no tenant, or the service is still reading its configuration. ',
        element('a', { href: '/health/ready' }, 'Status of the service'),
        '.',
      ),
    ),
  );
}

async function retryTenants(): Promise<void> {
  tenants = await fetchTenants().catch(() => []);
  if (view === undefined) await open();
}

function followRoute(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[data-route]') : null;
  if (
    link === null ||
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  event.preventDefault();
  go(link.getAttribute('href') ?? '/');
}

function go(address: string): void {
  if (address !== location.pathname + location.search) window.history.pushState(null, '', address);
  void open();
  main.focus({ preventScroll: true });
}

void start();
