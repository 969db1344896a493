/** One item, live or finished: where its time went, its critical path, its trace as a waterfall, the decisions about it. */
import type { ExplanationDocument } from '../../api/explanation.ts';
import type { LiveItem } from '../../api/live-item.ts';
import type { DecisionsDocument } from '../../api/service.ts';
import { rowOfState } from '../../model/item-states.ts';
import { actButtons } from './act-dialog.ts';
import { itemActs } from './acts.ts';
import { api, errorTextOf, fetchJson } from './address.ts';
import { comparisonPanel } from './comparison-panel.ts';
import { drawCriticalPath } from './critical-path.ts';
import { decisionList } from './decision-list.ts';
import type { DesktopNotices } from './desktop-notices.ts';
import { element, show } from './dom.ts';
import { nothingHere } from './fetched-view.ts';
import { forecastLine } from './forecast-line.ts';
import { itemTitle, resultKind, resultMark, resultWord } from './format.ts';
import { itemHead } from './item-head.ts';
import type { Live } from './live.ts';
import type { Changed, View } from './messages.ts';
import type { RightToAct } from './right-to-act.ts';
import { tick } from './ticking.ts';
import { timePanel } from './time-panel.ts';
import type { OtlpTrace } from './trace.ts';
import { Waterfall } from './waterfall.ts';

/** Updates of an item come in bursts: its trace is loaded when a burst is over. */
const AFTER_UPDATE_MS = 300;
/** An item reaches the history shortly after it left its queue. */
const AFTER_LEAVING_MS = 1000;

interface Shown {
  readonly tenant: string;
  readonly live: Live;
  /** Absent right: no buttons. */
  readonly right: Pick<RightToAct, 'isGiven'>;
  readonly notices: Pick<DesktopNotices, 'watchControl'>;
}

/** Shows what is known at once and loads the rest; after each burst of updates it loads explanation and trace again. */
export class ItemView implements View {
  readonly #root: Element;
  readonly #tenant: string;
  readonly #uuid: string;
  readonly #live: Live;
  readonly #right: Pick<RightToAct, 'isGiven'>;
  readonly #notices: Shown['notices'];
  #item: LiveItem | undefined;
  #explanation: ExplanationDocument | undefined;
  #head = element('div', { class: 'item-head' });
  #time = element('section', { class: 'panel', 'aria-labelledby': 'time-title' });
  #path = element('section', { class: 'panel', 'aria-labelledby': 'path-title', hidden: true });
  #decisions = element('section', { class: 'panel', 'aria-labelledby': 'decisions-title' });
  readonly #waterfall: Waterfall;
  #timer: number | undefined;
  #closed = false;

  constructor(root: Element, uuid: string, { tenant, live, right, notices }: Shown) {
    this.#notices = notices;
    this.#right = right;
    this.#root = root;
    this.#tenant = tenant;
    this.#uuid = uuid;
    this.#live = live;
    this.#waterfall = new Waterfall(tenant, () => live.now());
    show(root, element('p', { class: 'quiet' }, 'Loading …'));
    const known = live.item(uuid);
    if (known !== undefined) this.#take(known);
    void this.#load();
  }

  get title(): string {
    if (this.#item === undefined) return 'Item';
    const { left, failing, state } = this.#item;
    const name = itemTitle(this.#item);
    const how =
      left !== null
        ? `${resultMark(resultKind(left.result))} ${resultWord(left.result)}`
        : failing.length > 0
          ? '✕ failing'
          : rowOfState(state.name).word;
    return `${how}: ${name}`;
  }

  update(changed: Changed): void {
    const name = `item/${this.#uuid}`;
    if (this.#item !== undefined && changed?.has(`forecast/${this.#item.pipeline}`) === true)
      this.#redrawForecast(this.#item);
    if (changed !== null && !changed.has(name)) return;
    const item = this.#live.item(this.#uuid);
    if (item !== undefined) this.#take(item);
    this.#loadIn(item === undefined ? AFTER_LEAVING_MS : AFTER_UPDATE_MS);
  }

  tick(): void {
    if (this.#item === undefined || this.#item.left !== null) return;
    tick(this.#root, this.#live.now());
    // A panel under the pointer or with the focus is not redrawn.
    if (!isLookedAt(this.#time) && !isLookedAt(this.#path)) this.#drawTimes();
    this.#waterfall.grow();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #loadIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#load(), ms);
  }

  async #load(): Promise<void> {
    const path = `item/${this.#uuid}`;
    try {
      const item = this.#live.item(this.#uuid) ?? (await fetchJson<LiveItem>(api(this.#tenant, path)));
      if (this.#closed) return;
      if (item === undefined) return this.#missing();
      this.#take(item);
      const [change] = item.changes;
      const query = `project=${encodeURIComponent(change?.project ?? '')}&limit=50`;
      const [trace, explanation, decisions] = await Promise.all([
        fetchJson<OtlpTrace>(api(this.#tenant, `${path}/trace`)),
        fetchJson<ExplanationDocument>(api(this.#tenant, `${path}/explain`)),
        fetchJson<DecisionsDocument>(
          api(this.#tenant, `changes/${encodeURIComponent(change?.id ?? '')}/decisions?${query}`),
        ),
      ]);
      this.#explanation = explanation;
      if (trace !== undefined) this.#waterfall.draw(trace, item);
      show(this.#decisions, decisionList(decisions?.decisions ?? [], item));
      this.#drawTimes();
    } catch (error) {
      show(
        this.#decisions,
        element('p', { class: 'quiet' }, `Cannot load the item (${errorTextOf(error)}); trying again …`),
      );
      if (!this.#closed) this.#loadIn(5000);
    }
  }

  /** An item shown before is between its queue and the history. Otherwise there is no such item, or not yet. */
  #missing(): void {
    this.#loadIn(this.#item === undefined ? 5000 : AFTER_LEAVING_MS);
    if (this.#item !== undefined) return;
    show(
      this.#root,
      nothingHere('There is no such item, or not yet: it is in no queue and has not finished.'),
    );
  }

  #take(item: LiveItem): void {
    if (this.#item === undefined) {
      const beside = comparisonPanel(this.#tenant, this.#uuid);
      show(this.#root, this.#head, this.#time, this.#path, beside, this.#waterfall.root, this.#decisions);
    }
    this.#item = item;
    show(this.#head, itemHead(item, this.#forecastLine(item), [this.#watchButton(item), this.#acts(item)]));
    tick(this.#head, this.#live.now());
    this.#drawTimes();
  }

  #watchButton(item: LiveItem): HTMLElement | null {
    const button = item.left === null ? this.#notices.watchControl(this.#uuid) : null;
    return button === null ? null : element('p', { class: 'watch' }, button);
  }

  #acts(item: LiveItem): HTMLElement | null {
    if (!this.#right.isGiven) return null;
    const pipeline = this.#live.pipelines().find(({ name }) => name === item.pipeline);
    return actButtons(this.#tenant, itemActs(item, pipeline?.manager), item.uuid);
  }

  #forecastLine(item: LiveItem): HTMLElement {
    return forecastLine(item.uuid, this.#live.forecast(item), this.#live.now());
  }

  #redrawForecast(item: LiveItem): void {
    this.#head.querySelector('[data-forecast]')?.replaceWith(this.#forecastLine(item));
  }

  #drawTimes(): void {
    if (this.#item === undefined) return;
    const end = this.#item.left?.at ?? this.#live.now();
    show(this.#time, timePanel(this.#item, end, this.#explanation));
    this.#path.hidden = this.#explanation === undefined;
    if (this.#explanation !== undefined) show(this.#path, drawCriticalPath(this.#explanation, end));
  }
}

function isLookedAt(panel: Element): boolean {
  return panel.matches(':hover, :focus-within');
}
