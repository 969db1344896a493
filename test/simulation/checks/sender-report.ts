/** Who sends spans says how that fares: the report at the end counts all that its writer has delivered, but for the last seconds. */
import { senderReportCodec } from '../../../src/model/codec/records.ts';
import type { World } from '../world.ts';
import type { Check, Complain } from './check.ts';

/** Milliseconds: it is written once a second at most. */
const MAY_LAG = 5_000;

export class SenderReports implements Check {
  readonly #world: World;
  readonly #complain: Complain;

  constructor(world: World, complain: Complain) {
    this.#world = world;
    this.#complain = complain;
  }

  finished(): void {
    const { server, paths, received, kernel } = this.#world;
    if (received.spans.length === 0) return;
    const data = server.leader.find(paths.senderReport)?.data;
    if (data === undefined || data.length === 0) {
      this.#complain('sender', 'spans were sent and nothing says so');
      return;
    }
    const { host, sent } = senderReportCodec.decode(data);
    const delivered = received.spans.filter(({ by, at }) => by === host && at < kernel.now - MAY_LAG);
    const spans = new Set(delivered.map(({ span }) => span.spanId)).size;
    if (sent < spans) this.#complain('sender', `${host} delivered ${spans} spans and counts ${sent}`);
  }
}
