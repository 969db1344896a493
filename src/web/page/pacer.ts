/** Milliseconds of work between two pauses: less than a frame. */
const AT_ONCE_MS = 10;

/**
 * For long computations: to be awaited often, it pauses when the last pause is long enough ago, so that the page stays usable.
 *
 *     const breath = pacer();
 *     for (const block of blocks) { work(block); await breath(); }
 */
export function pacer(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < AT_ONCE_MS) return;
    await nextTask();
    last = performance.now();
  };
}

/** Unlike a timer, a message is not delayed by the browser. */
function nextTask(): Promise<void> {
  return new Promise(resolve => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
