/** The icon of the tab shows what goes on in the tenant. */
import { pages } from './address.ts';
import type { Live } from './live.ts';

/** Red while an item fails, grey while the queues are empty or their state is not known. */
export function showStateIcon(live: Live | undefined): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const wanted = pages.icon(stateOf(live));
  if (link !== null && link.getAttribute('href') !== wanted) link.setAttribute('href', wanted);
}

function stateOf(live: Live | undefined): '' | '-failing' | '-quiet' {
  const items = live?.connected === true ? live.items() : [];
  if (items.some(item => item.failing.length > 0)) return '-failing';
  return items.length === 0 ? '-quiet' : '';
}
