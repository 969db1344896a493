/**
 * The live documents of one tenant (`tenant`, `pipeline/<name>`, `item/<uuid>`), kept up to date by the server's events.
 *
 * `listener(changed)` is called with the names that changed, or null after a whole snapshot.
 */
import { openFeed } from './live-feed.js';

export class Live {
  documents = new Map();
  connected = false;
  /** When the last news came, in this machine's time. */
  heardAt = 0;
  #offset = 0;
  #listeners;
  #stop;

  constructor(tenant, listeners) {
    this.#listeners = listeners;
    this.#stop = openFeed(tenant, message => this.#hear(message));
  }

  #hear(message) {
    if (message.kind === 'connection') return this.#setConnected(message.connected);
    if (message.kind === 'snapshot') this.documents.clear();
    const changed = this.#take(message);
    this.#listeners.onChange(message.kind === 'snapshot' ? null : changed);
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
    this.#stop();
  }

  #take({ set, gone, now }) {
    this.heardAt = Date.now();
    this.#offset = now - Date.now();
    for (const [name, value] of Object.entries(set)) this.documents.set(name, value);
    for (const name of gone) this.documents.delete(name);
    return new Set([...Object.keys(set), ...gone]);
  }
}
