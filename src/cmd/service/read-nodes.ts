/** Reads and checks `nodes.yaml`; every error as one line with file and line number. */
import { readFile } from 'node:fs/promises';
import type { Log } from '../../lib/log.ts';
import { configErrorText } from '../../model/config-error.ts';
import { createLiveNodes, type LiveNodes } from '../../nodes/live-nodes.ts';
import { type ParsedNodesFile, parseNodesFile } from '../../nodes/parse-nodes-file.ts';

type ReadNodes =
  | Extract<ParsedNodesFile, { readonly kind: 'nodes' }>
  | { readonly kind: 'invalid'; readonly errors: readonly string[] };

async function readNodes(file: string): Promise<ReadNodes> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'invalid', errors: [`${file}: cannot be read (${reason}); see [nodes] config`] };
  }
  const parsed = parseNodesFile(text, file);
  return parsed.kind === 'nodes' ? parsed : { kind: 'invalid', errors: parsed.errors.map(configErrorText) };
}

/** @param file undefined: there are no hosts. */
export async function openNodes(
  file: string | undefined,
): Promise<{ readonly nodes?: LiveNodes } | Extract<ReadNodes, { readonly kind: 'invalid' }>> {
  if (file === undefined) return {};
  const read = await readNodes(file);
  return read.kind === 'invalid' ? read : { nodes: createLiveNodes(read) };
}

/** Reads the file again; one with errors changes nothing. Logs each outcome, and never rejects. */
export async function reloadNodes(file: string, nodes: LiveNodes, log: Log): Promise<void> {
  const read = await readNodes(file);
  if (read.kind === 'nodes') {
    nodes.adopt(read);
    log.info({ hosts: read.hosts.length, providers: read.pools.length }, 'the file of nodes is reloaded');
    return;
  }
  for (const error of read.errors) log.error({}, error);
  log.error({ file }, 'the file of nodes is invalid; the previous hosts stay');
}
