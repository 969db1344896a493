/**
 * The page: reads the address (src/model/page-place.ts), shows one view (open-view.ts), and keeps it live.
 *
 * Map of this room:
 *
 *     dom.ts, format.ts, address.ts     elements, numbers and times as text, addresses: every view uses them;
 *                                       header.ts, navigation.ts, state-icon.ts: around the view; ticking.ts, ticks.ts and time-bar.ts: times that go on
 *     live.ts                           the live documents of a tenant; live-feed.ts, shared-streams.ts, live-worker.ts and
 *                                       tenant-stream.ts bring them, one stream per browser; messages.ts: what they exchange
 *     board.ts                          the board: item-card.ts, or item-line.ts in a line-list.ts; board-choices.ts (remembered.ts), board-search.ts, board-keys.ts, board-empty.ts, pipeline-section.ts, recent-items.ts, job-kind.ts
 *     item-view.ts                      forecast-line.ts; item-view.ts: an item, from item-head.ts, time-panel.ts, critical-path.ts,
 *                                       waterfall.ts (trace.ts reads its spans) and decision-list.ts
 *     log-view.ts                       a build with its log: log-buffer.ts (log-sections.ts, ansi.ts) has it, log-reader.ts brings it, log-tools.ts and log-list.ts
 *                                       (log-rows.ts, log-search.ts, pacer.ts) show it; artifact-list.ts, failed-tests.ts, kept-files.ts
 *     delays-view.ts                    a pipeline's delays: delay-tiles.ts, whole-gate.ts, night-panels.ts, load-chart.ts, culprits.ts, reset-cases.ts
 *     fetched-view.ts                   views of one document: errors-view.ts, components-view.ts, trace-health-view.ts, builds-view.ts (list-filter.ts)
 *                                       jobs-view.ts and projects-view.ts; semaphores-view.ts, nodes-view.ts and autoholds-view.ts (list-search.ts); table.ts; queues-view.ts is live
 *     desktop-notices.ts                notifications of the browser: item-watch.ts says of what, notices-on.ts whether
 *     acts.ts, hold-acts.ts             what who is signed in may do (right-to-act.ts): act-dialog.ts asks, and says what it costs
 *     account.ts                        signing in and out: sign-in.ts, session.ts; token-source.ts and event-lines.ts: a stream with a token
 *
 * A view is a {@link View}; it draws from live documents and fetches the rest. Nothing here uses `innerHTML` or inline styles in
 * markup: the content security policy allows neither.
 */
import type { TenantsDocument } from '../../api/service.ts';
import { SignInControls } from './account.ts';
import { currentPlace, fetchTenants, pages, tenantStanding } from './address.ts';
import { DesktopNotices } from './desktop-notices.ts';
import { element, show } from './dom.ts';
import { nothingHere } from './fetched-view.ts';
import { clock } from './format.ts';
import { headerContent } from './header.ts';
import { Live } from './live.ts';
import { openFeed } from './live-feed.ts';
import type { View } from './messages.ts';
import { openView } from './open-view.ts';
import { RightToAct } from './right-to-act.ts';
import { sessionToken } from './session.ts';
import { showStateIcon } from './state-icon.ts';

const main = part('main');
const header = part('header');
const banner = part('banner');

/** Milliseconds between two checks for a first tenant. */
const NO_TENANT_MS = 1000;

/** Without its token the followed tenant is read again, as by a stranger. */
const account = new SignInControls(() => {
  live?.close();
  live = undefined;
  closeDialogs();
  void open();
});
const notices = new DesktopNotices(go, drawHeader);
let tenants: TenantsDocument = [];
let live: Live | undefined;
let liveTenant: string | undefined;
let right: RightToAct | undefined;
let view: View | undefined;
/** Why nothing comes of the followed tenant. `private`: it may also not exist. */
let standing: Awaited<ReturnType<typeof tenantStanding>> = 'readable';
/** Counts what was opened: of two at once the later one stays. */
let openings = 0;

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`index.html has no #${id}`);
  return found;
}

async function start(): Promise<void> {
  await account.open();
  tenants = await fetchTenants().catch(() => []);
  document.addEventListener('click', followRoute);
  window.addEventListener('popstate', () => {
    closeDialogs();
    void open();
  });
  setInterval(() => {
    view?.tick();
    if (live !== undefined && liveTenant !== undefined) notices.look(liveTenant, live, false);
    showState();
  }, 1000);
  await open();
}

async function open(): Promise<void> {
  const place = currentPlace();
  const tenant = place.tenant ?? tenants[0]?.name;
  const opening = ++openings;
  view?.close();
  view = undefined;
  if (tenant === undefined) return showNoTenant();
  const live = follow(tenant);
  right ??= new RightToAct(tenant, () => view?.update(null));
  window.scrollTo(0, 0);
  header.querySelector('.pages [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const opened = await openView(place, { root: main, tenant, live, right, notices });
  if (opening !== openings) return opened.close();
  view = opened;
  showState();
}

/** Of what was shown before. */
function closeDialogs(): void {
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
}

function showState(): void {
  const title = [view?.title, liveTenant, 'Gatehouse'].filter(part => part !== undefined).join(' · ');
  if (document.title !== title) document.title = title;
  showStateIcon(live);
}

function follow(tenant: string): Live {
  if (live !== undefined && liveTenant === tenant) {
    drawHeader();
    return live;
  }
  live?.close();
  liveTenant = tenant;
  right = undefined;
  standing = 'readable';
  live = new Live(tenant, openFeed, {
    onChange: changed => {
      if (standing === 'unknown') reopen();
      if (changed === null || changed.has('tenant')) {
        drawHeader();
        drawBanner();
      }
      view?.update(changed);
      if (live !== undefined) notices.look(tenant, live, true);
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

/** The tenant that was not there is. */
function reopen(): void {
  standing = 'readable';
  void open();
}

/** A stream says only that it was refused. A service that knows no tenant at all has just started. */
async function askWhether(tenant: string): Promise<void> {
  const found = await tenantStanding(tenant).catch(() => 'readable' as const);
  tenants = await fetchTenants().catch(() => tenants);
  if (tenant !== liveTenant) return;
  standing = found === 'unknown' && tenants.length === 0 ? 'readable' : found;
  if (standing === 'unknown') showUnknownTenant(tenant);
  drawBanner();
}

function showUnknownTenant(tenant: string): void {
  openings++;
  view?.close();
  view = undefined;
  const links = tenants.map(({ name }) =>
    element('li', {}, element('a', { 'data-route': true, href: pages.tenant(name) }, name)),
  );
  show(
    main,
    nothingHere(`There is no tenant ${tenant}.`),
    element('nav', { 'aria-label': 'Tenants', class: 'empty' }, element('ul', {}, links)),
  );
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
  if (standing === 'unknown') return undefined;
  if (!live.connected && standing === 'private') return `${failed}${privateReason()}`;
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
  const controls = [notices.control(), account.controls(() => drawBanner())];
  const facts = { tenants, tenant: liveTenant, page: currentPlace().page, live, go, account: controls };
  // On a phone the row of links may have been scrolled.
  const scrolled = header.querySelector('.pages')?.scrollLeft ?? 0;
  show(header, headerContent(facts));
  header.querySelector('.pages')?.scrollTo(scrolled, 0);
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
