// Bundles src/ into bundle/, which is compiled into the program. Run: npm ci --ignore-scripts && node build.mjs
// With --check FOLDER nothing here is written: the bundle is made in FOLDER, for the test that compares.
import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const check = process.argv.indexOf('--check');
const target = check < 0 ? join(here, 'bundle') : process.argv[check + 1];

// Where a package is installed: modules are looked for in the directories above.
function folder_of(name) {
  let above = here;
  while (!existsSync(join(above, 'node_modules', name))) above = dirname(above);
  return join(above, 'node_modules', name);
}

// The notice that the licences of the bundled libraries ask for.
async function notice() {
  const { dependencies } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
  const parts = ['page.js and page.css contain these libraries:\n'];
  const texts = [];
  for (const name of Object.keys(dependencies).sort()) {
    const folder = folder_of(name);
    const { version, license, homepage } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    // DOMPurify leaves the choice.
    const chosen = license.includes(' OR ') ? `Apache-2.0, of the two that are offered: ${license}` : license;
    parts.push(`  ${name} ${version}: ${chosen}\n    ${homepage ?? 'no home page named'}`);
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    texts.push(`--- ${name} ${version} ---\n\n${(await readFile(join(folder, file), 'utf8')).replaceAll('\r', '').trim()}\n`);
  }
  return `${parts.join('\n')}\n\n${texts.join('\n')}`;
}

await mkdir(target, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { page: 'src/main.js' },
  outdir: target,
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2022'],
  charset: 'utf8',
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning',
});
for (const file of ['index.html', 'icon.svg']) await copyFile(join(here, 'src', file), join(target, file));
await writeFile(join(target, 'NOTICE.txt'), await notice());
