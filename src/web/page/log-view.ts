/** The log of one build, followed while it grows. */

import type { BuildDocument } from '../../api/build-schema.ts';
import type { TestsDocument } from '../../api/tests.ts';
import { api, fetchJson, pages } from './address.ts';
import { artifactList, remarkList } from './artifact-list.ts';
import { element, externalLink, show } from './dom.ts';
import { failedTests } from './failed-tests.ts';
import { nothingHere } from './fetched-view.ts';
import { clock, duration, resultKind, resultMark, resultWord } from './format.ts';
import { fileList, type Manifest } from './kept-files.ts';
import type { Live } from './live.ts';
import { LogBuffer } from './log-buffer.ts';
import { LogReader } from './log-reader.ts';
import { LogTools } from './log-tools.ts';
import type { View } from './messages.ts';
import { pacer } from './pacer.ts';
import { tick } from './ticking.ts';

/** Bytes that are taken in at once: some milliseconds. */
const AT_ONCE = 65_536;

/** Reads the log as a whole, and follows it until it is complete. */
export class LogView implements View {
  readonly #root: Element;
  readonly #tenant: string;
  readonly #uuid: string;
  readonly #live: Live;
  #head = element('div', { class: 'item-head' });
  readonly #log = new LogBuffer();
  readonly #breath = pacer();
  readonly #tools: LogTools;
  readonly #reader: LogReader;
  readonly #files = element('div', { class: 'files' });
  readonly #tests = element('div', { class: 'files' });
  #headTimer: number | undefined;
  #closed = false;

  /** Of the job, and how it went. */
  title = 'Build';

  constructor(root: Element, tenant: string, uuid: string, live: Live) {
    this.#root = root;
    this.#tenant = tenant;
    this.#uuid = uuid;
    this.#live = live;
    this.#tools = new LogTools(this.#log, tenant, uuid);
    show(root, this.#head, this.#tools.root);
    this.#reader = new LogReader({
      tenant,
      uuid,
      take: (bytes, complete) => this.#take(bytes, complete),
      onState: text => this.#tools.say(text),
    });
    void this.#loadHead();
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
    this.#reader.close();
    this.#tools.close();
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
        element(
          'a',
          { 'data-route': true, href: pages.job(this.#tenant, build.job_name) },
          'all runs of the job',
        ),
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
      this.#tests,
      this.#files,
    );
    // What a build leaves is there when it has ended.
    if (build.result !== null && this.#files.childElementCount === 0) void this.#loadFiles();
    if ((build.gatehouse.tests?.failed ?? 0) > 0 && this.#tests.childElementCount === 0)
      void this.#loadTests();
    this.tick();
  }

  /** A build may be between its queue and the history. */
  #missing(): void {
    if (this.#head.childElementCount > 0) return;
    this.#reader.close();
    show(this.#root, nothingHere('There is no such build, or not yet.'));
  }

  async #take(bytes: Uint8Array, complete: boolean): Promise<void> {
    for (let at = 0; at < bytes.length || at === 0; at += AT_ONCE) {
      const end = at + AT_ONCE >= bytes.length;
      this.#log.add(bytes.subarray(at, at + AT_ONCE), complete && end);
      await this.#breath();
      if (this.#closed) return;
    }
    this.#tools.grow(complete);
  }

  async #loadTests(): Promise<void> {
    const tests = await fetchJson<TestsDocument>(api(this.#tenant, `build/${this.#uuid}/tests`)).catch(
      () => undefined,
    );
    if (tests === undefined || this.#closed) return;
    show(this.#tests, failedTests(tests));
  }

  async #loadFiles(): Promise<void> {
    const manifest = await fetchJson<Manifest>(
      api(this.#tenant, `build/${this.#uuid}/logs/zuul-manifest.json`),
    ).catch(() => undefined);
    if (manifest === undefined || this.#closed) return;
    show(this.#files, fileList(this.#tenant, this.#uuid, manifest));
  }
}
