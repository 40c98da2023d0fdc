// Builds the page as one HTML file whose scripts and styles are known to its content security policy by their hashes.
import { createHash } from 'node:crypto';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** The source of a policy that permits exactly this text. */
function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Moves the script and the styles into the page. What stands between their tags must not be touched afterwards. */
function oneFile(): Plugin {
  return {
    name: 'one-file',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const outputs = Object.values(bundle);
        const page = outputs.find((output) => output.type === 'asset' && output.fileName.endsWith('.html'));
        const scripts = outputs.filter((output) => output.type === 'chunk');
        if (!page || page.type !== 'asset') return this.error('there is no page');
        if (scripts.length !== 1) return this.error(`one script was expected, and there are ${scripts.length}`);
        const code = scripts[0].code.trim().replace(/<(\/script|!--)/gi, '\\x3c$1');
        const style = outputs
          .flatMap((output) => (output.type === 'asset' && output.fileName.endsWith('.css') ? [output.source] : []))
          .map(String)
          .join('\n')
          .trim();
        const policy = [
          "default-src 'none'",
          `script-src ${hashSource(code)}`,
          `style-src ${hashSource(style)}`,
          'img-src data:',
          // A page that is sent reaches nothing: who writes a document into it says so.
          "connect-src 'self'",
          "base-uri 'none'",
          "form-action 'none'",
        ].join('; ');
        // Replacements are functions, because a text may hold what a replacement would understand as a pattern.
        page.source = String(page.source)
          .replace(/\s*<script type="module"[^>]*><\/script>/, '')
          .replace(/\s*<link rel="stylesheet"[^>]*>/g, '')
          .replace('</head>', () => `<style>${style}</style>\n</head>`)
          .replace('</body>', () => `<script type="module">${code}</script>\n</body>`)
          .replace('%CSP%', () => policy);
        for (const output of outputs) if (output !== page) delete bundle[output.fileName];
        return undefined;
      },
    },
  };
}

export default defineConfig({
  plugins: [svelte(), oneFile()],
  build: {
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1e8,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
  },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
});
