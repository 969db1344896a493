/**
 * Imported into every process of a cluster: when the test process is gone, so is this one. The end of its standard input,
 * a pipe whose other end the test holds signals it; it keeps nothing alive.
 */
import process from 'node:process';

process.stdin.on('close', () => process.kill(process.pid, 'SIGKILL'));
process.stdin.resume();
if ('unref' in process.stdin) process.stdin.unref();
