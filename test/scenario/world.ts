/**
 * A whole site in one process, for stories: the real service, real repositories, and jobs that end when the story
 * ends them.
 *
 *     story('what is tested lands', { layout: classicLayout() }, async world => {
 *       await world.propose('A');
 *       await world.approve('A');
 *       await world.runs('project-merge: A');        // exactly these jobs run, and nothing else moves
 *       world.release(/project-merge/);              // let it end, with the verdict the story gave it
 *       world.release(/./);
 *       await world.leaves('A', 'SUCCESS');
 *     });
 *
 * Changes are called A, B, C, ...; a job is written `<job>: <topics it is tested with, oldest first>`. When the story is over,
 * everything still held is let go, the service is stopped, and what must hold for every story is checked.
 */
import type { FinishedItem, LiveItem } from '../../src/api/live-item.ts';
import type { Api } from '../../src/cmd/client/api.ts';
import type { DriverTable } from '../../src/cmd/service/driver-table.ts';
import type { Service } from '../../src/cmd/service/service.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Log } from '../../src/lib/log.ts';
import type { DecisionCode } from '../../src/model/decision.ts';
import type { ContractHost } from '../fake/contract-host/host.ts';
import type { GitHttpHost } from '../fake/git-http-host.ts';
import type { OtlpSink } from '../fake/otlp-sink.ts';
import type { Developer, Files } from './developer.ts';
import type { Observer } from './observer.ts';
import type { ShownDecision } from './outcomes.ts';
import type { Stage } from './stage.ts';
import type { StoryLog } from './story-log.ts';

export interface WorldSetup {
  /** zuul.yaml of org/config. */
  readonly layout: string;
  /** Untrusted projects with their first files; default org/project, org/project1, org/project2. */
  readonly projects?: { readonly [name: string]: Files };
  /** Projects of a second connection, called `far`, with their first files. */
  readonly far?: { readonly [name: string]: Files };
  /** Repositories that the world's tenants do not have, with their first files; `tenantStanzas` may list them. */
  readonly elsewhere?: { readonly [name: string]: Files };
  /** True: that connection has no `proposals`, so it only reads. */
  readonly farReadOnly?: boolean;
  /** More tenants with the same projects; the world looks at the first one only. */
  readonly moreTenants?: readonly string[];
  /** Of all untrusted projects in the tenant file, a mapping of YAML. */
  readonly projectOptions?: string;
  /** More lines of the tenant in the tenant file, e.g. `max-dependencies: 5`. */
  readonly tenantOptions?: readonly string[];
  /** The same for `moreTenants`, in place of those. */
  readonly moreTenantOptions?: readonly string[];
  /** More stanzas of the tenant file, as they stand. */
  readonly tenantStanzas?: string;
  /** More files of org/config. */
  readonly configFiles?: Files;
  /** More lines of `[scheduler]`. */
  readonly scheduler?: readonly string[];
  /** Builds at a time; default 30. */
  readonly maxBuilds?: number;
  /** More lines of `[executor]`. */
  readonly executor?: readonly string[];
  /** More lines of `[tracing]`. */
  readonly tracing?: readonly string[];
  /** More sections of gatehouse.conf, as they stand. */
  readonly sections?: readonly string[];
  /** A file of keys of projects (Zuul's format) that is imported before the start; needs `[keystore]` in `sections`. */
  readonly keys?: string;
  /** True: the collector refuses everything until the story says otherwise (`world.sink.answerAlways`). */
  readonly collectorDown?: boolean;
  /** What the collector speaks; default gRPC. With `http` the site's `protocol` is http/protobuf. */
  readonly collectorProtocol?: 'grpc' | 'http';
  /** True: the collector is named, and tracing is off all the same. */
  readonly tracingOff?: boolean;
  /** True: the service reaches the repositories over HTTP, and `world.host` can be ill. */
  readonly overHttp?: boolean;
  /** What the service must know to reach the repositories; with `overHttp`. */
  readonly httpPassword?: string;
  /** Default: those of the product. */
  readonly drivers?: DriverTable;
  /** True: the code host is the fake one of the contract, which merges by itself (`world.contract`). */
  readonly contractHost?: boolean;
  /** That of the service; default the system's. */
  readonly clock?: Clock;
  /** Hears what the service logs as well. */
  readonly secondLog?: Log;
  /** Warnings and errors of the log that belong to the story. */
  readonly expectedTrouble?: readonly RegExp[];
}

interface ProposalSpec {
  /** Default org/project. */
  readonly project?: string;
  readonly branch?: string;
  /** Default: one new file named for the topic. */
  readonly files?: Files;
  /** Topic of the same project the commit is made on top of. */
  readonly on?: string;
  /** Body of the commit message, e.g. `Depends-On: ...`. */
  readonly message?: string;
}

export interface World {
  readonly api: Api;
  /** Over the service's own socket, as an operator on its machine. */
  readonly operator: Api;
  readonly sink: OtlpSink;
  readonly stage: Stage;
  /** With `overHttp`. */
  readonly host: GitHttpHost | undefined;
  /** With `contractHost`. */
  readonly contract: ContractHost | undefined;
  readonly observer: Observer;
  readonly log: StoryLog;
  readonly service: Service;
  /** gatehouse.conf. */
  readonly config: string;
  developer(project: string): Developer;
  /** Pushes a commit as proposal, again for a new patchset; returns it. */
  propose(topic: string, spec?: ProposalSpec): Promise<string>;
  /** Approves what is proposed now, or `commit`. */
  approve(topic: string, commit?: string): Promise<void>;
  /** Takes the approval back. */
  withdraw(topic: string): Promise<void>;
  abandon(topic: string): Promise<void>;
  /** From now on the hosts send no webhooks for what the gate pushes. */
  ignoreHooks(): void;
  /** Pushes anything anywhere and sends the webhook. @param to null: deletes. */
  push(project: string, to: string | null, ref: string): Promise<void>;
  /** The job's runs for the change end with status 1. */
  fail(job: string, topic: string): void;
  /** Takes that back. */
  pass(job: string, topic: string): void;
  /** Lets running jobs that match end; their description is `<job>: <topics>`. @throws Error when none matches. */
  release(pattern: RegExp): void;
  /** Stops the service and starts it with these projects in its tenants. */
  restart(...projects: readonly string[]): Promise<void>;
  /** From now on jobs end as soon as they begin. */
  free(): void;
  /** Waits until exactly these jobs run, in any order, and nothing else moves. */
  runs(...jobs: readonly string[]): Promise<void>;
  /** Waits until the item of the change has left the pipeline and checks its result. */
  leaves(topic: string, result: string, pipeline?: string): Promise<FinishedItem>;
  /** The live item of the change. */
  item(topic: string, pipeline?: string): LiveItem | undefined;
  /** Topics of the pipeline's items in queue order. */
  queued(pipeline?: string): readonly string[];
  /** Every build that ran and whose item has left: `<job>: <topics> <result>`, sorted. */
  history(): Promise<readonly string[]>;
  /** Topics as they were landed, by order of the branch. */
  landed(project?: string, branch?: string): Promise<readonly string[]>;
  /** Notes on the present commit of the topic, one paragraph each; waits until there are `count`. */
  notes(topic: string, count?: number): Promise<readonly string[]>;
  /** Sentences that say what became of the change, oldest first. */
  decisions(topic: string): Promise<readonly ShownDecision[]>;
  /** Waits until a decision with this code is on record for the change. @param text part of its sentence. */
  decided(topic: string, code: DecisionCode, text?: string): Promise<ShownDecision>;
  /** Lets go what is held, waits until all items have left, stops the service, and checks what must hold for every story. */
  end(): Promise<void>;
  /** Stops and removes everything; after `end` or instead of it. */
  [Symbol.asyncDispose](): Promise<void>;
}
