/** The browser that tests of pages share for a file. */
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';

/** @param executablePath of `describeOnChromium`. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-background-networking'],
  });
}

/** For pages: what moves for its own sake stands still, for without a graphics card the processor draws each frame. */
export const STILL = { reducedMotion: 'reduce' } as const satisfies BrowserContextOptions;
