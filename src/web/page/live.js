/**
 * The live documents of one tenant (`tenant`, `pipeline/<name>`, `item/<uuid>`), kept up to date by the server's events.
 *
 * `listener(changed)` is called with the names that changed, or null after a whole snapshot.
 */
import { api } from './address.js';

/** After a refusal. */
const REFUSED_MS = 3000;

export class Live {
  documents = new Map();
  connected = false;
  /** When the last news came, in this machine's time. */
  heardAt = 0;
  #offset = 0;
  #tenant;
  #listeners;
  #source;
  #timer;

  constructor(tenant, listeners) {
    this.#tenant = tenant;
    this.#listeners = listeners;
    this.#open();
  }

  #open() {
    const source = new EventSource(api(this.#tenant, 'events'));
    this.#source = source;
    source.addEventListener('snapshot', event => {
      this.documents.clear();
      this.#take(JSON.parse(event.data));
      this.#listeners.onChange(null);
    });
    source.addEventListener('update', event => this.#listeners.onChange(this.#take(JSON.parse(event.data))));
    source.addEventListener('open', () => this.#setConnected(true));
    source.addEventListener('error', () => {
      this.#setConnected(false);
      // A lost connection the browser restores itself; a refusal (too many readers, still starting) it takes for final.
      if (source.readyState === EventSource.CLOSED) this.#timer = setTimeout(() => this.#open(), REFUSED_MS);
    });
  }

  #setConnected(connected) {
    if (this.connected === connected && this.heardAt !== 0) return;
    this.connected = connected;
    this.#listeners.onConnection(connected);
  }

  /** The server's time, in milliseconds. */
  now() {
    return Date.now() + this.#offset;
  }

  get(name) {
    return this.documents.get(name);
  }

  pipelines() {
    return [...this.documents]
      .filter(([name]) => name.startsWith('pipeline/'))
      .map(([, pipeline]) => pipeline)
      .sort((a, b) => a.position - b.position);
  }

  item(uuid) {
    return this.documents.get(`item/${uuid}`);
  }

  close() {
    clearTimeout(this.#timer);
    this.#source.close();
  }

  #take({ set, gone, now }) {
    this.heardAt = Date.now();
    this.#offset = now - Date.now();
    for (const [name, value] of Object.entries(set)) this.documents.set(name, value);
    for (const name of gone) this.documents.delete(name);
    return new Set([...Object.keys(set), ...gone]);
  }
}
