/**
 * Answers of `git upload-pack` in protocol 2 without that program: where refs are, from their files, and packs, from `pack-objects`
 * alone. What is not plain (annotated tags, shallow clones, filters, a negotiation, a wrong question) is left to git.
 */
import { existsSync } from 'node:fs';
import { runGit } from './git-repository.ts';
import { type ListedRefs, listRefs } from './list-refs.ts';
import { DELIMITER, FLUSH, onBand, packet, readPackets } from './pkt-line.ts';

/** @param hidden refs, and all below them. @returns undefined: this one is for git. */
export async function answerUploadPack(
  dir: string,
  question: Buffer,
  hidden: readonly string[],
): Promise<Buffer | undefined> {
  const { lines: head, rest } = readPackets(question);
  const command = head.find(line => line.startsWith('command='))?.trimEnd();
  const lines = readPackets(rest).lines.map(line => line.trimEnd());
  if (!isWhole(question)) return undefined;
  if (command === 'command=ls-refs') return listing(dir, lines, hidden);
  return command === 'command=fetch' ? pack(dir, lines) : undefined;
}

/** One question, with arguments. */
function isWhole(question: Buffer): boolean {
  return question.includes(DELIMITER) && question.subarray(-FLUSH.length).equals(FLUSH);
}

function listing(dir: string, lines: readonly string[], hidden: readonly string[]): Buffer | undefined {
  const options = new Set(lines.filter(line => !line.startsWith('ref-prefix ')));
  const prefixes = lines.filter(line => line.startsWith('ref-prefix ')).map(line => line.slice(11));
  if (![...options].every(option => ['peel', 'symrefs', 'unborn'].includes(option))) return undefined;
  const listed = listRefs(dir, prefixes);
  if (listed === undefined || (options.has('peel') && [...listed.refs.keys()].some(isTag))) return undefined;
  const head = headLine(listed, prefixes, options);
  if (head === undefined) return undefined;
  const refs = [...listed.refs].filter(([ref]) => !hidden.some(each => `${ref}/`.startsWith(`${each}/`)));
  return Buffer.concat([head, ...refs.map(([ref, id]) => packet(`${id} ${ref}\n`)), FLUSH]);
}

function isTag(ref: string): boolean {
  return ref.startsWith('refs/tags/');
}

/** Empty: not asked for. Undefined: git knows what to say of a branch that is not there. */
function headLine(
  { head }: ListedRefs,
  prefixes: readonly string[],
  options: ReadonlySet<string>,
): Buffer | undefined {
  if (prefixes.length > 0 && !prefixes.some(prefix => 'HEAD'.startsWith(prefix))) return Buffer.alloc(0);
  if (head === undefined) return undefined;
  const target = options.has('symrefs') ? ` symref-target:${head.branch}` : '';
  return packet(`${head.id} HEAD${target}\n`);
}

const PACK_OPTIONS: { readonly [line: string]: string } = {
  'thin-pack': '--thin',
  'ofs-delta': '--delta-base-offset',
  'include-tag': '--include-tag',
};
const SILENT = new Set(['done', 'no-progress']);

async function pack(dir: string, lines: readonly string[]): Promise<Buffer | undefined> {
  const wants = lines.filter(line => /^want [0-9a-f]{40}$/.test(line)).map(line => line.slice(5));
  const haves = lines.filter(line => /^have [0-9a-f]{40}$/.test(line)).map(line => line.slice(5));
  const others = lines.filter(line => !/^(want|have) [0-9a-f]{40}$/.test(line));
  const isPlain = others.every(line => SILENT.has(line) || PACK_OPTIONS[line] !== undefined);
  // Without `done` git names what both have, and goes on.
  if (!isPlain || !others.includes('done') || wants.length === 0 || existsSync(`${dir}/shallow`))
    return undefined;
  const options = others.flatMap(line => PACK_OPTIONS[line] ?? []);
  const revisions = [...wants, '--not', ...haves, ''].join('\n');
  try {
    const objects = await runGit(dir, ['pack-objects', '--revs', '--stdout', '-q', ...options], revisions);
    return Buffer.concat([packet('packfile\n'), onBand(1, objects), FLUSH]);
  } catch {
    return undefined; // one of them is not here: git says so, or does without
  }
}
