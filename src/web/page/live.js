/**
 * The live documents of one tenant (`tenant`, `pipeline/<name>`, `item/<uuid>`), kept up to date by the server's events.
 *
 * `listener(changed)` is called with the names that changed, or null after a whole snapshot.
 */
import { api } from './address.js';

export class Live {
  documents = new Map();
  connected = false;
  /** When the last news came, in this machine's time. */
  heardAt = 0;
  #offset = 0;
  #source;

  constructor(tenant, { onChange, onConnection }) {
    this.#source = new EventSource(api(tenant, 'events'));
    this.#source.addEventListener('snapshot', event => {
      this.documents.clear();
      this.#take(JSON.parse(event.data));
      onChange(null);
    });
    this.#source.addEventListener('update', event => onChange(this.#take(JSON.parse(event.data))));
    const connection = connected => {
      if (this.connected === connected && this.heardAt !== 0) return;
      this.connected = connected;
      onConnection(connected);
    };
    this.#source.addEventListener('open', () => connection(true));
    this.#source.addEventListener('error', () => connection(false));
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
