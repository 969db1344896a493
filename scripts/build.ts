/**
 * Builds the program: `npm run build [FOLDER]` (default `dist`). What the service loads becomes few large modules, packages and all, so that a
 * process starts with half the processor time, and needs neither the sources nor `node_modules`:
 *
 *     FOLDER/bin/                the program; FOLDER/package.json beside it, of a package for npm without dependencies
 *     FOLDER/src/cmd/main.js     the command line
 *     FOLDER/src/…/x.js          the modules that threads and processes start with, where the sources have them
 *     FOLDER/src/…, drivers/…    what is no code, and the page as it is served
 *     FOLDER/chunks/             the rest (build-chunks.ts)
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { pageFiles } from '../src/web/page-files.ts';
import { chunkPlan } from './build-chunks.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const PARTS = ['src', 'drivers'];
const PAGE = 'src/web/page';
const PROGRAM = 'src/cmd/main';
/** The demo's part among containers. What programs start in turn is found in the sources. */
const PROGRAMS = [PROGRAM, 'src/cmd/quickstart/container-site'];
/** Optional parts of packages, native code: the packages do without. */
const ABSENT = ['cpu-features', 'pg-native', 'bufferutil', 'utf-8-validate'];
/** Makes the page; a build has it made. */
const BUNDLER = 'rolldown';
/** The Node that is pinned here is the oldest that a build is tried with. */
const PACKAGE: {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly bin: { readonly gatehouse: string };
  readonly devDependencies: { readonly node: string };
} = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));

/** In a build: what it was made from. */
const MARK = '.made-from';

/**
 * Makes the build, unless the folder has one of these very sources.
 *
 * @param folder is replaced as a whole, when the new build is complete.
 */
export async function build(folder: string): Promise<void> {
  const files = PARTS.flatMap(filesBelow);
  const made = digest([
    ...files,
    'package.json',
    'package-lock.json',
    'scripts/build.ts',
    'scripts/build-chunks.ts',
  ]);
  if (isMadeFrom(folder, made)) return;
  mkdirSync(path.dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}.`);
  try {
    await writeModules(draft, files);
    for (const name of [...assetsOf(files), 'LICENSE']) cpSync(path.join(ROOT, name), path.join(draft, name));
    for (const [name, { text }] of await pageFiles()) writeFileSync(path.join(draft, PAGE, name), text);
    writePackage(draft);
    // A temporary folder is for its owner alone, and an image, for one, has users.
    chmodSync(draft, 0o755);
    writeFileSync(path.join(draft, MARK), made);
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  } catch (error) {
    // Another process made the same at the same time.
    if (!isMadeFrom(folder, made)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function isMadeFrom(folder: string, made: string): boolean {
  const mark = path.join(folder, MARK);
  return existsSync(mark) && readFileSync(mark, 'utf8') === made;
}

async function writeModules(folder: string, files: readonly string[]): Promise<void> {
  const starting = files.filter(isCode).flatMap(startedIn);
  const entries = [...new Set([...PROGRAMS, ...starting])];
  const chunks = chunkPlan();
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map(entry => [entry, path.join(ROOT, `${entry}.ts`)])),
    platform: 'node',
    external: [...ABSENT, BUNDLER],
    // The modules that programs start with are for nothing else.
    preserveEntrySignatures: 'allow-extension',
    plugins: [chunks.plugin],
    // ssh2 looks for a program of Windows beside itself.
    transform: { define: { __dirname: 'import.meta.dirname' } },
    logLevel: 'silent',
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups: [{ name: chunks.name, includeDependenciesRecursively: false }] },
    sourcemap: false,
  });
  await bundle.close();
}

/** Holds all it needs, so that it can be installed anywhere: by npm, in an image, by dpkg. */
function writePackage(folder: string): void {
  const { name, version, description, license, type, bin, devDependencies } = PACKAGE;
  const made = { name, version, description, license, type, private: true, bin };
  const oldest = Number(devDependencies.node.split('.')[0]);
  const engines = { node: `>=${oldest}` };
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify({ ...made, engines }, null, 2)}\n`);
  const program = path.join(folder, bin.gatehouse);
  mkdirSync(path.dirname(program), { recursive: true });
  writeFileSync(program, starterText(oldest), { mode: 0o755 });
}

/** Runs on any Node, to say which one is needed. */
function starterText(oldest: number): string {
  return `#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) >= ${oldest}) await import('../${PROGRAM}.js');
else {
  process.stderr.write(\`error: Gatehouse needs Node.js ${oldest} or newer; this is \${process.version}\\n\`);
  process.exitCode = 1;
}
`;
}

/** Modules that threads and processes start with: the arguments of `ownModule`. */
function startedIn(file: string): readonly string[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return [...text.matchAll(/\bownModule\('([^']+)'\)/g)].flatMap(([, name]) => name ?? []);
}

function isCode(file: string): boolean {
  return file.endsWith('.ts') && !file.startsWith(`${PAGE}/`);
}

/** Of the page its document: `pageFiles` has the rest. */
function assetsOf(files: readonly string[]): readonly string[] {
  return files.filter(file =>
    file.startsWith(`${PAGE}/`) ? file.endsWith('.html') : !/\.(ts|md)$/.test(file),
  );
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

function digest(files: readonly string[]): string {
  const hash = createHash('sha256').update(process.version);
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(path.join(ROOT, file)));
  return hash.digest('hex');
}

if (import.meta.main) await build(path.resolve(process.argv[2] ?? path.join(ROOT, 'dist')));
