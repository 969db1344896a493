/**
 * The page: reads the address, shows the board, an item or a build, and keeps it live.
 *
 *     /                        the first tenant
 *     /t/<tenant>              its pipelines               board.ts
 *     /t/<tenant>/item/<uuid>  one item                    item-view.ts
 *     /t/<tenant>/build/<uuid> the log of a build          log-view.ts
 *     /t/<tenant>/pipeline/<p> where its time went         delays-view.ts
 *     /t/<tenant>/config-errors                            errors-view.ts
 */
import type { BuildsetDocument } from '../../api/builds.ts';
import type { TenantsDocument } from '../../api/service.ts';
import { api, currentPlace, fetchJson, fetchTenants, pages } from './address.ts';
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

const main = part('main');
const header = part('header');
const banner = part('banner');

/** How often to look for a first tenant. */
const NO_TENANT_MS = 1000;

let tenants: TenantsDocument = [];
let live: Live | undefined;
let liveTenant: string | undefined;
let view: View | undefined;

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`index.html has no #${id}`);
  return found;
}

async function start(): Promise<void> {
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
  else if (place.page === 'buildset') await openBuildset(tenant, place.uuid, live);
  else view = new Board(main, tenant, live);
}

/** Reports name buildsets; people want the item they belong to. */
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
  live = new Live(tenant, {
    onChange: changed => {
      if (changed === null || changed.has('tenant')) {
        drawHeader();
        drawBanner();
      }
      view?.update(changed);
    },
    onConnection: () => {
      drawBanner();
      drawHeader();
    },
  });
  drawHeader();
  return live;
}

/** What keeps this page from showing what is so now; hidden when nothing does. */
function drawBanner(): void {
  const text = whyOld();
  banner.hidden = text === undefined;
  if (text !== undefined) show(banner, text);
}

function whyOld(): string | undefined {
  if (live === undefined) return undefined;
  if (!live.connected && live.heardAt === 0) return `No news of tenant ${liveTenant} yet; trying again …`;
  if (!live.connected) return `Connection lost; this is how it was at ${clock(live.heardAt)}. Trying again …`;
  const since = live.tenant()?.awaySince ?? null;
  if (since === null) return undefined;
  return `The service has no contact with its store since ${clock(since)}; this is how it was then. Trying again …`;
}

function drawHeader(): void {
  show(header, headerContent({ tenants, tenant: liveTenant, live, go }));
}

/** Until there is one: a service that has just been started knows none yet. */
function showNoTenant(): void {
  drawHeader();
  setTimeout(() => void lookAgain(), NO_TENANT_MS);
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
        element('a', { href: '/health/ready' }, 'What it waits for'),
        '.',
      ),
    ),
  );
}

async function lookAgain(): Promise<void> {
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
