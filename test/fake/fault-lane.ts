/** One direction of one proxied connection: bytes, and how they end, go from one socket to another as the mode says. */
import type { Socket } from 'node:net';

export type LaneMode =
  | { readonly kind: 'pass' }
  /** Each piece waits so long; their order stays. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Nothing moves; everything waits. */
  | { readonly kind: 'hang' }
  /** Everything is thrown away, the end included; when it passes again the connection is reset, for its stream has a hole. */
  | { readonly kind: 'drop' }
  /** So many more bytes pass, then the connection is reset, in the middle of a request or answer. */
  | { readonly kind: 'limitBytes'; readonly bytes: number };

export interface LaneEvents {
  /** Bytes are about to go on; setting a mode now has no effect on them any more. */
  passing(bytes: Buffer): void;
  passed(bytes: number): void;
  dropped(bytes: number): void;
  /** The connection is of no further use. */
  spent(): void;
}

/** Something on its way: bytes, or the way the sender ended. */
type Piece = Buffer | 'end' | 'reset';

export class Lane {
  #mode: LaneMode;
  #left = 0;
  #hole = false;
  /** Oldest first, with the moment each may pass (`performance.now()`). */
  #waiting: { readonly piece: Piece; readonly due: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #to: Socket;
  readonly #events: LaneEvents;

  constructor(from: Socket, to: Socket, mode: LaneMode, events: LaneEvents) {
    this.#to = to;
    this.#events = events;
    this.#mode = mode;
    if (mode.kind === 'limitBytes') this.#left = mode.bytes;
    from.on('data', piece => this.#take(piece));
    from.on('end', () => this.#take('end'));
    from.on('close', failed => {
      if (failed) this.#take('reset');
    });
  }

  set(mode: LaneMode): void {
    this.#mode = mode;
    if (mode.kind === 'limitBytes') this.#left = mode.bytes;
    if (mode.kind === 'drop') for (const { piece } of this.#waiting.splice(0)) this.#drop(piece);
    else if (this.#hole) this.#events.spent();
    else this.#move();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting = [];
  }

  #take(piece: Piece): void {
    if (this.#mode.kind === 'drop') {
      this.#drop(piece);
      return;
    }
    const delay = this.#mode.kind === 'delay' ? this.#mode.ms : 0;
    this.#waiting.push({ piece, due: performance.now() + delay });
    this.#move();
  }

  #move(): void {
    clearTimeout(this.#timer);
    if (this.#mode.kind === 'hang') return;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const wait = this.#mode.kind === 'delay' ? first.due - performance.now() : 0;
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#move(), wait);
        return;
      }
      this.#waiting.shift();
      this.#pass(first.piece);
    }
  }

  #pass(piece: Piece): void {
    if (piece === 'end') {
      this.#to.end();
      return;
    }
    if (piece === 'reset') {
      this.#to.resetAndDestroy();
      return;
    }
    const part = this.#mode.kind === 'limitBytes' ? piece.subarray(0, this.#left) : piece;
    this.#left -= part.length;
    this.#events.passing(part);
    this.#events.passed(part.length);
    if (part.length === piece.length) {
      this.#to.write(part);
      return;
    }
    this.#events.dropped(piece.length - part.length);
    this.#waiting = [];
    this.#mode = { kind: 'drop' };
    this.#to.write(part, () => this.#events.spent());
  }

  #drop(piece: Piece): void {
    this.#hole = true;
    if (typeof piece !== 'string') this.#events.dropped(piece.length);
  }
}
