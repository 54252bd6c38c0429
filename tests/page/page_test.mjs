// The web page, used by a person who has a real Chromium: the real server, on the simulator. All tests in one process, with
// one browser.
//
// Without Chromium everything is skipped (exit code 77). With SCREENSHOTS=FOLDER the pictures of the documentation are
// written there.
import { find_chromium } from './browser.mjs';

if (!find_chromium()) {
  console.log('skipped: no Chromium is installed; apt-get install chromium, or set CHROMIUM to its path');
  process.exit(77);
}

const kParts = ['access', 'answers', 'conversations', 'looks', 'keyboard', 'long_answers', 'board', 'log_and_tools'];
for (const part of kParts) await import(`./${part}_test.mjs`);
if (process.env.SCREENSHOTS) await import('./pictures.mjs');
