/** How spans are presented; no option changes ids or times. */
import type { Uuid } from '../../lib/ids.ts';
import type { ProjectKey } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ServerAddress } from '../repository-url.ts';
import type { TraceUi } from '../ui-url.ts';

/** The part that spans of passes and reconfigurations need, too. */
export interface SpanStyle {
  /** `gatehouse`: kind and subject (`Build unit-tests`); `zuul`: the bare kind (`Build`). */
  readonly names: 'gatehouse' | 'zuul';
  /** Connection name → server of its code host; absent: unknown. */
  readonly servers?: ReadonlyMap<string, ServerAddress>;
}

/** From `[tracing]` and the connections (`src/cmd/service/live-tracing.ts`): the same for live spans, the export and a back-fill. */
export interface SpanOptions extends SpanStyle {
  /** Page of an item and of a build, for `cicd.*.url.full`, and the log of a build; absent: no URLs. */
  readonly urls?: {
    item(item: Pick<QueueItem, 'tenant' | 'uuid'>): string;
    build(item: Pick<QueueItem, 'tenant'>, build: Uuid): string;
    log(item: Pick<QueueItem, 'tenant'>, build: Uuid): string;
  };
  /** Address of the trace viewer; absent: unknown. */
  readonly viewer?: TraceUi;
  /** Connection name → `vcs.provider.name`, e.g. `github`. */
  readonly providers?: ReadonlyMap<string, string>;
  /** Public URL of a project's repository; absent: none. */
  readonly repositoryUrl?: (project: ProjectKey) => string | undefined;
}

/** Our names and nothing optional; used while tracing is off, when pages still show traces. */
export const DEFAULT_SPAN_OPTIONS: SpanOptions = { names: 'gatehouse' };
