/** The log of one build, followed while it grows. */

import type { BuildDocument } from '../../api/builds.ts';
import { api, errorTextOf, fetchJson, pages } from './address.ts';
import { artifactList, remarkList } from './artifact-list.ts';
import { element, externalLink, show } from './dom.ts';
import { nothingHere } from './fetched-view.ts';
import { clock, duration, resultKind, resultMark, resultWord } from './format.ts';
import type { Live } from './live.ts';
import { LogLines } from './log-lines.ts';
import type { View } from './messages.ts';
import { authorization, sessionToken } from './session.ts';
import { tick } from './ticking.ts';

const EVERY_MS = 1000;
/** Characters kept on the page; the link "raw" has the whole log. */
const KEPT = 2_000_000;

/** Reads once a second until the log is complete. Shows the last 2 000 000 characters. */
export class LogView implements View {
  readonly #root: Element;
  readonly #tenant: string;
  readonly #uuid: string;
  readonly #live: Live;
  #head = element('div', { class: 'item-head' });
  #output = element('pre', { class: 'log-output', tabindex: 0, 'aria-label': 'Log' });
  #status = element('p', { class: 'quiet', role: 'status' });
  #follow = element('input', { type: 'checkbox', id: 'follow', checked: true });
  #decoder = new TextDecoder();
  #lines = new LogLines();
  #offset = 0;
  #shown = 0;
  #timer: number | undefined;
  #headTimer: number | undefined;
  #closed = false;

  /** Of the job, and how it went. */
  title = 'Build';

  constructor(root: Element, tenant: string, uuid: string, live: Live) {
    this.#root = root;
    this.#tenant = tenant;
    this.#uuid = uuid;
    this.#live = live;
    const raw = element(
      'a',
      { href: `${api(tenant, `build/${uuid}/log`)}?limit=4194304`, class: 'external' },
      'raw',
    );
    show(
      root,
      this.#head,
      element(
        'section',
        { class: 'panel' },
        element(
          'div',
          { class: 'log-tools' },
          element('label', {}, this.#follow, ' follow'),
          // A link sends no token.
          sessionToken() === undefined && raw,
          this.#status,
        ),
        this.#output,
      ),
    );
    void this.#loadHead();
    void this.#read();
  }

  update(): void {
    clearTimeout(this.#headTimer);
    this.#headTimer = window.setTimeout(() => void this.#loadHead(), 500);
  }

  tick(): void {
    tick(this.#root, this.#live.now());
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#headTimer);
  }

  async #loadHead(): Promise<void> {
    const build = await fetchJson<BuildDocument>(api(this.#tenant, `build/${this.#uuid}`)).catch(
      () => 'unreachable' as const,
    );
    if (build === 'unreachable' || this.#closed) return;
    if (build === undefined) return this.#missing();
    const kind = resultKind(build.result);
    this.title = `${build.result === null ? '' : `${resultMark(kind)} ${resultWord(build.result)}: `}${build.job_name}`;
    const { requested_at, started_at, ended_at, item, attempt, worker } = build.gatehouse;
    const started = started_at === null ? null : Number(started_at.slice(0, -6));
    show(
      this.#head,
      element('h1', {}, build.job_name, attempt > 1 && ` (attempt ${attempt})`),
      element(
        'p',
        { class: 'meta' },
        build.result === null
          ? element(
              'span',
              { class: 'chip is-run' },
              element('i', { class: 'dot', 'aria-hidden': 'true' }),
              started === null ? 'queued ' : 'running ',
              element('b', { 'data-since': started ?? Number(requested_at?.slice(0, -6)) }),
            )
          : element('span', { class: `chip is-${kind}` }, `${resultMark(kind)} ${resultWord(build.result)}`),
        build.error_detail !== null && element('span', {}, build.error_detail),
        started !== null &&
          ended_at !== null &&
          element('span', {}, `${duration(Number(ended_at.slice(0, -6)) - started)} from ${clock(started)}`),
        worker !== null && element('span', {}, `on ${worker}`),
        !build.voting && element('span', {}, 'non-voting'),
        element('span', {}, `${build.ref.project} ${build.ref.change ?? build.ref.ref}`),
        element(
          'a',
          { 'data-route': true, href: pages.item(this.#tenant, item) },
          `item in ${build.pipeline}`,
        ),
        externalLink(build.gatehouse.trace_url, 'open in the trace viewer'),
      ),
      artifactList(build),
      remarkList(build),
    );
    this.tick();
  }

  /** A build may be between its queue and the history. */
  #missing(): void {
    if (this.#head.childElementCount > 0) return;
    clearTimeout(this.#timer);
    show(this.#root, nothingHere('There is no such build, or not yet.'));
  }

  async #read(): Promise<void> {
    const more = await this.#readPiece().catch((error: unknown) => {
      this.#status.textContent = `Cannot read the log (${errorTextOf(error)}); trying again …`;
      return 'later' as const;
    });
    if (this.#closed || more === 'end') return;
    this.#timer = window.setTimeout(() => void this.#read(), more === 'more' ? 0 : EVERY_MS);
  }

  /** @returns `more`: read on immediately; `later`: the log may grow; `end`: it is complete. */
  async #readPiece(): Promise<'more' | 'later' | 'end'> {
    const response = await fetch(`${api(this.#tenant, `build/${this.#uuid}/log`)}?offset=${this.#offset}`, {
      headers: authorization(),
    });
    if (response.status === 404) {
      this.#status.textContent = 'No output yet.';
      return 'later';
    }
    if (response.status === 410) {
      const { error }: { error: string } = await response.json();
      this.#status.textContent = `${error.slice(0, 1).toUpperCase()}${error.slice(1)}.`;
      return 'end';
    }
    if (!response.ok) throw new Error(String(response.status));
    const bytes = await response.arrayBuffer();
    const complete = response.headers.get('X-Complete') === 'true';
    this.#offset = Number(response.headers.get('X-Next-Offset'));
    this.#add(this.#decoder.decode(bytes, { stream: !complete }), complete);
    this.#status.textContent = complete ? 'Complete.' : 'Live.';
    if (complete) return 'end';
    return bytes.byteLength > 0 ? 'more' : 'later';
  }

  #add(text: string, complete: boolean): void {
    for (const line of this.#lines.add(text, complete)) {
      const drawn = line.pieces.map(piece =>
        piece.classes === ''
          ? document.createTextNode(piece.text)
          : element('span', { class: piece.classes }, piece.text),
      );
      this.#output.append(...(line.executor ? [element('span', { class: 'of-executor' }, ...drawn)] : drawn));
      for (const piece of line.pieces) this.#shown += piece.text.length;
    }
    while (this.#shown > KEPT && this.#output.firstChild !== null) {
      this.#shown -= this.#output.firstChild.textContent?.length ?? 0;
      this.#output.firstChild.remove();
    }
    if (this.#follow.checked && text !== '') this.#output.scrollTop = this.#output.scrollHeight;
  }
}
