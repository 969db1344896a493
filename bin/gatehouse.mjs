#!/usr/bin/env node
/** `gatehouse` on the PATH: runs the command line on the Node this project pins. */
import path from 'node:path';

process.argv.splice(2, 0, 'node', path.resolve(import.meta.dirname, '../src/cmd/main.ts'));
await import('../scripts/bootstrap.mjs');
