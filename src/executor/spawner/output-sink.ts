/** Where the output of a process goes: a log, by a pipe that the job may open again, or memory. */
import { type LineLog, openLineLog } from './line-log.ts';
import type { OutputPipe } from './output-pipe.ts';
import { createOutputWatch } from './output-watch.ts';
import type { ProcessSpec } from './protocol.ts';

/** Open until {@link closeSink}. */
export type Sink =
  | { readonly kind: 'log'; readonly pipe: OutputPipe; readonly log: LineLog }
  | { readonly kind: 'capture'; readonly limit: number };

/** @param takePipe for a log. @param onMatch of `failureOutput`. @throws Error of the file system. */
export async function openSink(
  { output }: ProcessSpec,
  takePipe: () => Promise<OutputPipe>,
  onMatch: (source: string) => void,
): Promise<Sink> {
  if (output.kind === 'capture') return output;
  const { path, limit, masks, failureOutput } = output;
  const watch = failureOutput === undefined ? undefined : await createOutputWatch(failureOutput, onMatch);
  const log = await openLineLog(path, limit, () => new Date(), masks, watch);
  return { kind: 'log', log, pipe: await takePipe() };
}

/** The job has ended, or never began. */
export async function closeSink(sink: Sink): Promise<void> {
  if (sink.kind !== 'log') return;
  sink.pipe.reader.destroy();
  await sink.log.close();
}
