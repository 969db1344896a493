/**
 * Desktop notifications: a button of the header turns them on, and the browser asks only then. They are about the changes that the
 * board shows as one's own, and about items that are watched by a button of their page.
 *
 * While they are on, the tab is sent the live documents also when it is hidden. Of several tabs one shows each notification: what was
 * shown is remembered by the browser.
 */
import type { LiveItem } from '../../api/live-item.ts';
import { api, fetchJson, pages } from './address.ts';
import { type Child, element } from './dom.ts';
import { departure, ItemWatch, type PageNotice } from './item-watch.ts';
import type { Live } from './live.ts';
import { areOffered, areOn } from './notices-on.ts';
import { remember, remembered } from './remembered.ts';

/** Milliseconds after which the history has an item that left its queue, and how often it is asked. */
const HISTORY = { afterMs: 1_500, tries: 4 } as const;
/** Of each list that the browser remembers. */
const MOST_REMEMBERED = 100;
/** Milliseconds between two looks while nothing changes. */
const LOOK_MS = 15_000;

/** Of one page. */
export class DesktopNotices {
  readonly #go: (address: string) => void;
  readonly #redraw: () => void;
  #watch = new ItemWatch();
  #tenant = '';
  #lookAt = 0;

  /** @param go opens an address of this site. @param redraw the header is to be drawn again. */
  constructor(go: (address: string) => void, redraw: () => void) {
    this.#go = go;
    this.#redraw = redraw;
  }

  /** The button; null where the browser has no notifications. */
  control(): Child {
    if (!areOffered()) return null;
    const isBlocked = Notification.permission === 'denied';
    const made = element(
      'button',
      {
        type: 'button',
        id: 'notices',
        class: 'account',
        disabled: isBlocked,
        'aria-pressed': areOn() ? 'true' : 'false',
        title: isBlocked ? 'This browser blocks notifications of this site.' : TITLE,
      },
      areOn() ? 'Notices on' : ['Notify', element('span', { class: 'wide' }, ' me')],
    );
    made.addEventListener('click', () => void this.#toggle());
    return made;
  }

  /** For an item's page; null where the browser has no notifications. */
  watchControl(uuid: string): HTMLElement | null {
    if (!areOffered() || Notification.permission === 'denied') return null;
    const isWatched = areOn() && rememberedList('watched').includes(uuid);
    const made = element(
      'button',
      {
        type: 'button',
        id: 'watch',
        class: 'account',
        'aria-pressed': isWatched ? 'true' : 'false',
        title: 'A notification when it lands, fails, is reset twice, holds up its queue, or will be late.',
      },
      isWatched ? 'Watching' : 'Watch',
    );
    made.addEventListener('click', () => void this.#toggleWatch(uuid, made));
    return made;
  }

  /** After each change of the documents, and once a second. @param isNews documents have changed. */
  look(tenant: string, live: Live, isNews: boolean): void {
    if (!areOn() || !live.connected || (!isNews && Date.now() < this.#lookAt)) return;
    this.#lookAt = Date.now() + LOOK_MS;
    if (tenant !== this.#tenant) this.#watch = new ItemWatch();
    this.#tenant = tenant;
    const mine = remembered('mine') ?? '';
    const watched = new Set(rememberedList('watched'));
    const concerns = ({ uuid, changes }: LiveItem) =>
      watched.has(uuid) || (mine !== '' && changes.some(({ owner }) => owner === mine));
    const found = this.#watch.look(live, concerns, ({ uuid }) => void this.#left(tenant, uuid));
    for (const each of found) this.#show(tenant, each);
  }

  async #toggle(): Promise<void> {
    const isOn = !areOn() && (await Notification.requestPermission()) === 'granted';
    remember('notices', isOn ? 'on' : '');
    document.dispatchEvent(new Event('visibilitychange'));
    this.#redraw();
  }

  async #toggleWatch(uuid: string, button: HTMLElement): Promise<void> {
    const isWatched = areOn() && rememberedList('watched').includes(uuid);
    const others = rememberedList('watched').filter(each => each !== uuid);
    if (!areOn()) await this.#toggle();
    if (!areOn()) return;
    rememberList('watched', isWatched ? others : [...others, uuid]);
    button.replaceWith(this.watchControl(uuid) ?? '');
  }

  async #left(tenant: string, uuid: string): Promise<void> {
    for (let tries = 0; tries < HISTORY.tries; tries++) {
      await new Promise(resolve => setTimeout(resolve, HISTORY.afterMs));
      const item = await fetchJson<LiveItem>(api(tenant, `item/${uuid}`)).catch(() => undefined);
      if (item === undefined || item.left === null) continue;
      const about = departure(item);
      if (about !== undefined) this.#show(tenant, about);
      return;
    }
  }

  #show(tenant: string, { uuid, key, title, text }: PageNotice): void {
    const shown = rememberedList('noticed', '\n');
    if (shown.includes(key)) return;
    rememberList('noticed', [...shown, key], '\n');
    const made = new Notification(title, { body: text, tag: key, icon: pages.icon('') });
    made.addEventListener('click', () => {
      window.focus();
      this.#go(pages.item(tenant, uuid));
      made.close();
    });
  }
}

const TITLE =
  'Notifications about your changes (choose “mine” on the board) and the items you watch: landed, failed, reset twice, holding up the queue, late.';

function rememberedList(name: string, separator = ' '): readonly string[] {
  return (remembered(name) ?? '').split(separator).filter(each => each !== '');
}

/** The newest of them. */
function rememberList(name: string, values: readonly string[], separator = ' '): void {
  remember(name, values.slice(-MOST_REMEMBERED).join(separator));
}
