import { readFileSync } from 'node:fs';
import path from 'node:path';

const file = path.resolve(import.meta.dirname, '../../package.json');
const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'));

/** Version of this release, as package.json says. */
export const VERSION = version;
