/**
 * The page: reads the address, shows the board, an item or a build, and keeps it live.
 *
 *     /                        the first tenant
 *     /t/<tenant>              its pipelines               board.js
 *     /t/<tenant>/item/<uuid>  one item                    item-view.js
 *     /t/<tenant>/build/<uuid> the log of a build          log-view.js
 *     /t/<tenant>/config-errors                            errors-view.js
 */
import { api, currentPlace, fetchJson, fetchTenants, pages } from './address.js';
import { Board } from './board.js';
import { element, show } from './dom.js';
import { ErrorsView } from './errors-view.js';
import { clock, count, duration } from './format.js';
import { ItemView } from './item-view.js';
import { Live } from './live.js';
import { LogView } from './log-view.js';

const main = document.getElementById('main');
const header = document.getElementById('header');
const banner = document.getElementById('banner');

let tenants = [];
let live;
let liveTenant;
let view;

async function start() {
  tenants = await fetchTenants().catch(() => []);
  document.addEventListener('click', followRoute);
  window.addEventListener('popstate', () => void open());
  setInterval(() => view?.tick(), 1000);
  await open();
}

async function open() {
  const place = currentPlace();
  const tenant = place.tenant ?? tenants?.[0]?.name;
  view?.close();
  view = undefined;
  if (tenant === undefined) return showNoTenant();
  follow(tenant);
  window.scrollTo(0, 0);
  document.title =
    place.page === 'board' || place.page === 'none'
      ? `${tenant} · Gatehouse`
      : `${place.page} · ${tenant} · Gatehouse`;
  if (place.page === 'item') view = new ItemView(main, tenant, place.uuid, live);
  else if (place.page === 'build') view = new LogView(main, tenant, place.uuid, live);
  else if (place.page === 'errors') view = new ErrorsView(main, tenant);
  else if (place.page === 'buildset') await openBuildset(tenant, place.uuid);
  else view = new Board(main, tenant, live);
}

/** Reports name buildsets; people want the item they belong to. */
async function openBuildset(tenant, uuid) {
  const buildset = await fetchJson(api(tenant, `buildset/${uuid}`)).catch(() => undefined);
  const item = buildset?.gatehouse?.item;
  if (item === undefined) return show(main, element('p', { class: 'quiet' }, 'There is no such buildset.'));
  window.history.replaceState(null, '', pages.item(tenant, item));
  view = new ItemView(main, tenant, item, live);
}

function follow(tenant) {
  if (liveTenant === tenant) return drawHeader();
  live?.close();
  liveTenant = tenant;
  live = new Live(tenant, {
    onChange: changed => {
      if (changed === null || changed.has('tenant')) drawHeader();
      view?.update(changed);
    },
    onConnection: connected => {
      banner.hidden = connected;
      if (!connected)
        show(
          banner,
          live.heardAt === 0
            ? 'Cannot reach the server; trying again …'
            : `Connection lost; this is how it was at ${clock(live.heardAt)}. Trying again …`,
        );
      drawHeader();
    },
  });
  drawHeader();
}

function drawHeader() {
  const facts = live?.get('tenant');
  show(
    header,
    element(
      'a',
      {
        class: 'brand',
        id: 'brand',
        'data-route': true,
        href: liveTenant === undefined ? '/' : pages.tenant(liveTenant),
      },
      element('img', { src: new URL('icon.svg', import.meta.url).pathname, alt: '', width: 26, height: 26 }),
      'Gatehouse',
    ),
    tenantChoice(),
    element('span', { class: 'grow' }),
    facts !== undefined && headerFacts(facts),
    element(
      'span',
      {
        class: `live ${live?.connected ? 'is-on' : ''}`,
        title: live?.connected ? 'shows every change as it happens' : 'not connected',
      },
      element('i', { class: 'dot', 'aria-hidden': 'true' }),
      live?.connected ? 'live' : 'offline',
    ),
  );
}

function headerFacts(facts) {
  const waiting =
    facts.triggerEvents +
    facts.managementEvents +
    Object.values(facts.connectionEvents).reduce((sum, length) => sum + length, 0);
  const lost = Object.values(facts.tracing?.lost ?? {}).reduce((sum, number) => sum + number, 0);
  return element(
    'span',
    { class: 'facts' },
    waiting > 0 &&
      element('span', { title: 'events received and not yet acted on' }, count(waiting, 'event'), ' waiting'),
    facts.configErrors > 0 &&
      element(
        'a',
        { class: 'warn', 'data-route': true, href: pages.errors(facts.name) },
        count(facts.configErrors, 'configuration error'),
      ),
    facts.tracing !== null && tracingFact(facts.tracing, lost),
  );
}

function tracingFact(tracing, lost) {
  if (lost > 0)
    return element(
      'span',
      {
        class: 'warn',
        title: Object.entries(tracing.lost)
          .map(([why, number]) => `${why}: ${number}`)
          .join(', '),
      },
      `${count(lost, 'span')} lost`,
    );
  if (tracing.problem !== null) {
    const since =
      tracing.oldestWaiting === null ? '' : ` for ${duration(live.now() - tracing.oldestWaiting)}`;
    return element(
      'span',
      { class: 'warn', title: tracing.problem },
      `trace collector away${since}, ${count(tracing.waiting, 'span')} kept`,
    );
  }
  return element(
    'span',
    { title: `${tracing.delivered} delivered, ${tracing.waiting} on their way` },
    'traces ok',
  );
}

function tenantChoice() {
  if ((tenants?.length ?? 0) < 2) return element('span', { class: 'tenant' }, liveTenant ?? '');
  const options = tenants.map(({ name }) =>
    element('option', { value: name, selected: name === liveTenant }, name),
  );
  return element(
    'select',
    {
      class: 'tenant',
      id: 'tenant',
      'aria-label': 'Tenant',
      onchange: event => go(pages.tenant(event.target.value)),
    },
    options,
  );
}

function showNoTenant() {
  drawHeader();
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

function followRoute(event) {
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
  go(link.getAttribute('href'));
}

function go(address) {
  if (address !== location.pathname) window.history.pushState(null, '', address);
  void open();
  main.focus({ preventScroll: true });
}

void start();
