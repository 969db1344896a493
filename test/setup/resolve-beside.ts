/**
 * What the product imports from beside the importing file, and Node's own modules, are resolved by their name alone.
 *
 * Vitest's hook reports each import to the main process, which keeps a graph of modules that a single run does not need, and Node
 * looks for the file, its real path and its package: for 10 000 imports in each process. Imports of test files stay in that graph, so
 * that a failure shows the line of the test or of what it shares with others. Watching needs all of it: a change of the product runs
 * the tests that import it.
 */
import { registerHooks } from 'node:module';

const TESTS = new URL('../', import.meta.url).href;

// The hook that was registered last is asked first.
if (process.env.VITEST_MODE !== 'WATCH')
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier.startsWith('node:')) return { url: specifier, format: 'builtin', shortCircuit: true };
      const { parentURL } = context;
      const isOfProduct = parentURL?.startsWith('file:') && !parentURL.startsWith(TESTS);
      if (isOfProduct && specifier.startsWith('.') && specifier.endsWith('.ts'))
        return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
      return nextResolve(specifier, context);
    },
  });
