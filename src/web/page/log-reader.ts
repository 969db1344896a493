/**
 * Brings a log, piece by piece, and follows it while it grows: over a WebSocket where that can be opened, else by asking once a second.
 */
import { api, errorTextOf } from './address.ts';
import { authorization, sessionToken } from './session.ts';

/** Where the log is, and who takes it. */
interface Reading {
  readonly tenant: string;
  readonly uuid: string;
  /** Called in order; the next piece waits for it. @param complete the log ends with it. */
  readonly take: (bytes: Uint8Array, complete: boolean) => Promise<void>;
  /** For people. */
  readonly onState: (text: string) => void;
}

const PIECE = 1024 * 1024;
const EVERY_MS = 1000;
/** Of a page behind which the stream has no place, for a while. */
const NO_STREAM_MS = 60_000;

type Outcome = 'more' | 'caught-up' | 'later' | 'end';

export class LogReader {
  readonly #reading: Reading;
  readonly #path: string;
  #offset = 0;
  #timer: number | undefined;
  #socket: WebSocket | undefined;
  /** Time before which no stream is tried. */
  #noStreamUntil = 0;
  #closed = false;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#path = api(reading.tenant, `build/${reading.uuid}/log`);
    document.addEventListener('visibilitychange', this.#seen);
    void this.#read();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
    document.removeEventListener('visibilitychange', this.#seen);
  }

  /** A hidden page keeps no stream, which others may need; it goes on when it is seen again. */
  readonly #seen = (): void => {
    if (document.hidden) this.#socket?.close();
    else if (this.#socket === undefined && !this.#closed) this.#readIn(0);
  };

  #readIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#read(), ms);
  }

  async #read(): Promise<void> {
    if (this.#closed || this.#socket !== undefined) return;
    let outcome: Outcome;
    do {
      outcome = await this.#readPiece().catch((error: unknown): Outcome => {
        this.#reading.onState(`Cannot read the log (${errorTextOf(error)}); trying again …`);
        return 'later';
      });
    } while (outcome === 'more' && !this.#closed);
    if (this.#closed || outcome === 'end') return;
    if (outcome === 'caught-up' && !document.hidden && Date.now() > this.#noStreamUntil) this.#follow();
    else if (!document.hidden) this.#readIn(EVERY_MS);
  }

  async #readPiece(): Promise<Outcome> {
    const response = await fetch(`${this.#path}?offset=${this.#offset}&limit=${PIECE}`, {
      headers: authorization(),
    });
    if (response.status === 404) {
      this.#reading.onState('No output yet.');
      return 'later';
    }
    if (response.status === 410) {
      const { error }: { error: string } = await response.json();
      this.#reading.onState(`${error.slice(0, 1).toUpperCase()}${error.slice(1)}.`);
      return 'end';
    }
    if (!response.ok) throw new Error(String(response.status));
    const bytes = new Uint8Array(await response.arrayBuffer());
    const complete = response.headers.get('X-Complete') === 'true';
    this.#offset = Number(response.headers.get('X-Next-Offset'));
    await this.#reading.take(bytes, complete);
    this.#reading.onState(complete ? 'Complete.' : 'Live.');
    if (complete) return 'end';
    return bytes.length > 0 ? 'more' : 'caught-up';
  }

  /** From where the pieces ended. Each message is a piece of the bytes. */
  #follow(): void {
    const address = new URL(api(this.#reading.tenant, 'console-stream'), location.href);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    let taken: Promise<void> = Promise.resolve();
    let isOpen = false;
    socket.addEventListener('open', () => {
      isOpen = true;
      const token = sessionToken();
      const asked = { uuid: this.#reading.uuid, logfile: 'console.log', gatehouse: { offset: this.#offset } };
      socket.send(JSON.stringify(token === undefined ? asked : { ...asked, token }));
    });
    socket.addEventListener('message', ({ data }) => {
      if (!(data instanceof ArrayBuffer) || this.#closed) return;
      this.#offset += data.byteLength;
      taken = taken.then(() => this.#reading.take(new Uint8Array(data), false));
    });
    socket.addEventListener('close', ({ code }) => {
      // 1000: the log has ended, or its executor is gone; the next piece says which.
      if (!isOpen || code !== 1000) this.#noStreamUntil = Date.now() + NO_STREAM_MS;
      void taken.then(() => this.#leave(socket));
    });
  }

  #leave(socket: WebSocket): void {
    if (this.#socket === socket) this.#socket = undefined;
    if (!this.#closed && !document.hidden) this.#readIn(0);
  }
}
