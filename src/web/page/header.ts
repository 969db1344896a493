/** The line at the top: tenant, waiting events, problems, and whether the page is live. */
import type { LiveTenant } from '../../api/live-view.ts';
import type { TenantsDocument } from '../../api/service.ts';
import type { Place } from '../../model/page-place.ts';
import { pages } from './address.ts';
import { type Child, element } from './dom.ts';
import { count, duration } from './format.ts';
import type { Live } from './live.ts';
import { navigation } from './navigation.ts';

/** `live` is undefined while no tenant is known. `go` opens an address of this site without a new document. */
export interface HeaderFacts {
  readonly tenants: TenantsDocument;
  /** The tenant shown. */
  readonly tenant: string | undefined;
  /** The page shown. */
  readonly page: Place['page'];
  readonly live: Live | undefined;
  readonly go: (address: string) => void;
  /** Signs in or out. */
  readonly account: Child;
}

/** The tenant can be chosen when there are several. Problems are shown only while they last. */
export function headerContent({ tenants, tenant, page, live, go, account }: HeaderFacts): readonly Child[] {
  const facts = live?.tenant();
  // Of a tenant that is not there nothing is live, and it has no pages; a private one is in no list read before signing in.
  const isThere = facts !== undefined || tenants.length === 0 || tenants.some(({ name }) => name === tenant);
  const isLive = live?.connected === true && (facts?.awaySince ?? null) === null;
  return [
    element(
      'a',
      {
        class: 'brand',
        id: 'brand',
        'data-route': true,
        href: tenant === undefined ? '/' : pages.tenant(tenant),
      },
      element('img', { src: pages.icon(''), alt: '', width: 26, height: 26 }),
      'Gatehouse',
    ),
    tenantChoice({ tenants, tenant, go }),
    element('span', { class: 'grow' }),
    live !== undefined && facts !== undefined && headerFacts(facts, live.now()),
    account,
    isThere && liveMark(isLive),
    tenant !== undefined && isThere && navigation(tenant, page, facts?.configErrors ?? 0),
  ];
}

function liveMark(isLive: boolean): HTMLElement {
  return element(
    'span',
    {
      class: `live ${isLive ? 'is-on' : ''}`,
      title: isLive ? 'updated live' : 'shows the last known state; see the message above',
    },
    element('i', { class: 'dot', 'aria-hidden': 'true' }),
    element('span', { class: 'word' }, isLive ? 'live' : 'offline'),
  );
}

function headerFacts(facts: LiveTenant, now: number): HTMLElement {
  const waiting =
    facts.triggerEvents +
    facts.managementEvents +
    Object.values(facts.connectionEvents).reduce((sum, length) => sum + length, 0);
  const lost = Object.values(facts.tracing?.lost ?? {}).reduce((sum, number) => sum + number, 0);
  return element(
    'span',
    { class: 'facts' },
    facts.missing.length > 0 &&
      element(
        'span',
        { class: 'warn', title: 'the gate needs at least one; see "gatehouse components"' },
        `no ${facts.missing.join(', no ')}`,
      ),
    waiting > 0 &&
      element(
        'span',
        { title: 'events received and not processed yet' },
        count(waiting, 'event'),
        ' waiting',
      ),
    facts.semaphoreWaits > 0 &&
      element(
        'a',
        {
          'data-route': true,
          href: pages.list(facts.name, 'semaphores'),
          title: 'who holds them, and who waits',
        },
        `${count(facts.semaphoreWaits, 'job')} waiting for semaphores`,
      ),
    facts.tracing !== null && tracingFact(facts.tracing, lost, now),
  );
}

function tracingFact(tracing: NonNullable<LiveTenant['tracing']>, lost: number, now: number): HTMLElement {
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
    const since = tracing.oldestWaiting === null ? '' : ` for ${duration(now - tracing.oldestWaiting)}`;
    return element(
      'span',
      { class: 'warn', title: tracing.problem },
      `trace collector unreachable${since}, ${count(tracing.waiting, 'batch', 'batches')} of spans waiting`,
    );
  }
  return element(
    'span',
    {
      title: `${tracing.delivered === null ? 'no sender has reported yet' : `${count(tracing.delivered, 'span')} delivered`}, ${count(tracing.waiting, 'batch', 'batches')} waiting`,
    },
    'traces ok',
  );
}

function tenantChoice({ tenants, tenant, go }: Pick<HeaderFacts, 'tenants' | 'tenant' | 'go'>): HTMLElement {
  if (tenants.length < 2) return element('span', { class: 'tenant' }, tenant ?? '');
  const options = tenants.map(({ name }) =>
    element('option', { value: name, selected: name === tenant }, name),
  );
  const choice = element('select', { class: 'tenant', id: 'tenant', 'aria-label': 'Tenant' }, options);
  choice.addEventListener('change', () => go(pages.tenant(choice.value)));
  return choice;
}
