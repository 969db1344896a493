/**
 * I1, I2, I3, I10, I20 at the code host: what lands was asked for by a durable intent of an item that is being reported, is
 * exactly what was tested, passes every job, lands once; and the acting process is alive in the store. What lands is noted beforehand.
 */
import { reportIntentCodec } from '../../../src/model/codec/records.ts';
import type { ReportIntent } from '../../../src/model/report-intent.ts';
import type { Landing } from '../host/code-host.ts';
import { jobFails } from '../host/developer.ts';
import { TENANT } from '../site.ts';
import type { World } from '../world.ts';
import type { Complain } from './check.ts';
import type { PipelineHistory } from './pipeline-history.ts';

const JOBS = ['unit', 'integration'];

export class Landings {
  readonly #world: World;
  readonly #history: PipelineHistory;
  readonly #complain: Complain;
  readonly #landed = new Map<string, string>();
  #seen = 0;
  #effects = 0;

  constructor(world: World, history: PipelineHistory, complain: Complain) {
    this.#world = world;
    this.#history = history;
    this.#complain = complain;
  }

  /** After each event of the run. */
  step(): void {
    const { landings } = this.#world.host;
    for (; this.#seen < landings.length; this.#seen += 1) {
      const landing = landings[this.#seen];
      if (landing !== undefined && landing.by !== 'developer') this.#check(landing);
    }
    const { effects } = this.#world;
    for (; this.#effects < effects.length; this.#effects += 1) {
      const effect = effects[this.#effects];
      if (effect?.sessionAlive === false)
        this.#complain(
          'I10',
          `${effect.by} asked the host for "${effect.what}" although its session is over`,
        );
    }
  }

  /** One move of a branch lands each change whose tested commit is on the way: the last one first. */
  #check(landing: Landing): void {
    const intents = this.#intents();
    let to: string = landing.to;
    for (let left = intents.length; left >= 0; left -= 1) {
      const before = this.#checkOne({ ...landing, to }, intents);
      if (before === undefined || before === String(landing.from)) return;
      if (!intents.some(intent => intent.parts.some(part => part.tested?.commit === before))) {
        this.#complain('I3', `${to} landed on ${landing.from}, tested was ${before}`);
        return;
      }
      to = before;
    }
    this.#complain('I3', `${landing.to} landed on ${landing.from}, and was not tested on it`);
  }

  /** @returns where its test began; undefined: it was not asked for. */
  #checkOne(
    { project, branch, by, to }: Omit<Landing, 'to'> & { readonly to: string },
    intents: readonly ReportIntent[],
  ): string | undefined {
    const { objects } = this.#world.host;
    const commit = objects.get(to);
    const change = /^Change: (.+)$/m.exec(commit.message)?.[1] ?? to;
    const before = this.#landed.get(change);
    if (before !== undefined) this.#complain('I1', `${change} landed twice: ${before} and ${to}`);
    this.#landed.set(change, to);
    const failing = JOBS.filter(job => jobFails(commit.files, job));
    if (failing.length > 0)
      this.#complain('I2', `${change} landed although ${failing.join(', ')} fail on it`);
    const intent = intents.find(each =>
      each.parts.some(
        part => part.merges && part.tested?.commit === to && part.change.project.endsWith(project),
      ),
    );
    if (intent === undefined) {
      this.#complain('I1', `${by} landed ${change} without a durable intent`);
      return undefined;
    }
    const part = intent.parts.find(each => each.tested?.commit === to);
    this.#checkNoted(to, intent);
    const item =
      intent.item === null ? undefined : this.#history.state(intent.pipeline).items.get(intent.item);
    if (item?.phase.phase !== 'reporting' || item.phase.report !== intent.uuid)
      this.#complain('I2', `${change} landed on ${branch} while its item is ${item?.phase.phase ?? 'gone'}`);
    return part?.tested?.before;
  }

  /** So that the event of the new commit can be attributed. */
  #checkNoted(commit: string, { item }: ReportIntent): void {
    const { server, paths } = this.#world;
    if (item === null || this.#history.items.get(item)?.sampled !== true) return;
    const noted = [...(server.leader.find(paths.landings)?.children ?? [])];
    if (!noted.some(name => name.startsWith(`${commit}-${item}-`)))
      this.#complain('landing', `${commit} landed for item ${item} and no node says so`);
  }

  #intents(): readonly ReportIntent[] {
    const { server, paths } = this.#world;
    const base = paths.reportOutbox(TENANT, 'gate');
    return [...(server.leader.find(base)?.children ?? [])].flatMap(name => {
      const data = server.leader.find(`${base}/${name}`)?.data;
      return data === undefined ? [] : [reportIntentCodec.decode(data)];
    });
  }
}
