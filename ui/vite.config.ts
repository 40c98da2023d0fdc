// Builds the page as one HTML file whose scripts and styles are known to its content security policy by their hashes.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** The source of a policy that permits exactly this text. */
function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** The licences and notices of what is in the script besides our own code, each package once. */
function licences(modules: string[]): string {
  const folders = modules.map((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]).filter((folder) => folder);
  const texts = [...new Set(folders as string[])].sort().flatMap((folder) => {
    if (!existsSync(join(folder, 'package.json'))) return [];
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name: string;
      version: string;
      license: string;
    };
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)(\.|$)/i.test(file)).sort();
    const text = files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
    return [`${name} ${version} (${license})\n\n${text}`];
  });
  return texts.join('\n\n\n').replace(/<(\/script|!--)/gi, '< $1');
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
        const modules = Object.keys(scripts[0].modules);
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
          .replace('</body>', () => `<script type="text/plain" id="licences">\n${licences(modules)}\n</script>\n</body>`)
          .replace('%CSP%', () => policy);
        for (const output of outputs) if (output !== page) delete bundle[output.fileName];
        return undefined;
      },
    },
  };
}

export default defineConfig({
  plugins: [
    // Every rule and every element of a component has its name: short ones keep the page small.
    svelte({
      compilerOptions: { discloseVersion: false, cssHash: ({ hash, css }) => `s${hash(css).slice(0, 4)}` },
    }),
    oneFile(),
  ],
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
