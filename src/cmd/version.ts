import { readFileSync } from 'node:fs';
import { ownFile } from '../lib/own-file.ts';

const file = ownFile('package.json');
const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'));

/** Version of this release, as package.json says. */
export const VERSION = version;
