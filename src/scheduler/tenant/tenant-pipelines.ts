/** The pipelines of one tenant in this scheduler: started and stopped as its layouts are adopted. */
import type { Pipeline } from '../../model/pipeline.ts';
import type { PipelineName, TenantName } from '../../model/project.ts';
import { preparePipeline } from '../../store/load-pipeline.ts';
import type { SchedulerShared } from '../shared.ts';
import { createPipelineRunner, type PipelineRunner } from '../turn/pipeline-runner.ts';
import type { ConfigDeps, TenantConfig } from './tenant-config.ts';
import { contextMaker } from './tenant-context.ts';
import type { TenantLayout } from './tenant-layout.ts';

interface RunningPipeline {
  readonly runner: PipelineRunner;
  readonly stop: AbortController;
  pipeline: Pipeline;
}

/** A runner stays while layouts follow one another; it asks for the definition in force at each turn. */
export class TenantPipelines {
  readonly #tenant: TenantName;
  readonly #layout: TenantLayout;
  readonly #config: ConfigDeps;
  readonly #shared: SchedulerShared;
  readonly #running = new Map<PipelineName, RunningPipeline>();

  constructor(tenant: TenantName, layout: TenantLayout, config: ConfigDeps, shared: SchedulerShared) {
    this.#tenant = tenant;
    this.#layout = layout;
    this.#config = config;
    this.#shared = shared;
  }

  /** Call with one configuration after the other. @param signal ends the pipelines. */
  async adopt({ layout, retired }: TenantConfig, signal: AbortSignal): Promise<void> {
    const wanted = [...layout.pipelines.values(), ...retired];
    for (const [name, { stop }] of this.#running) {
      if (wanted.some(pipeline => pipeline.name === name)) continue;
      stop.abort(new Error(`pipeline ${this.#tenant}/${name} is gone`));
      this.#running.delete(name);
    }
    for (const pipeline of wanted) {
      const known = this.#running.get(pipeline.name);
      if (known === undefined) await this.#start(pipeline, signal);
      else known.pipeline = pipeline;
    }
    for (const { runner } of this.#running.values()) runner.poke();
  }

  /** The pipeline's nodes exist before the first event can be put into its queue. */
  async #start(pipeline: Pipeline, signal: AbortSignal): Promise<void> {
    const { deps, pipelineQueue, share, track } = this.#shared;
    const tenant = this.#tenant;
    await preparePipeline(deps.store, deps.paths.pipeline(tenant, pipeline.name), signal);
    await pipelineQueue(tenant, pipeline.name).prepare(signal);
    const maker = contextMaker(this.#shared, tenant, pipeline.name, this.#config, () => entry.runner.poke());
    const entry: RunningPipeline = {
      pipeline,
      stop: new AbortController(),
      runner: createPipelineRunner({
        ...maker.runnerDeps,
        layout: this.#layout,
        context: () => {
          const { current } = this.#layout;
          if (current === undefined) throw new Error(`tenant ${tenant} has no layout yet`);
          return maker.context(current, entry.pipeline);
        },
      }),
    };
    this.#running.set(pipeline.name, entry);
    const either = AbortSignal.any([signal, entry.stop.signal]);
    const known = share.know();
    either.addEventListener('abort', () => known[Symbol.dispose](), { once: true });
    track(entry.runner.run(either), `pipeline ${tenant}/${pipeline.name}`);
  }
}
