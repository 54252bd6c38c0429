// Hosts that are programs: each runs in a home of its own, until it has ended.
import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const kPatience = 500_000; // ms; hosts take seconds to start on a busy machine

// The path of a file in a package from npm, or undefined if npm has no such package for this machine.
export function packaged(file) {
  try {
    return createRequire(import.meta.url).resolve(file);
  } catch {
    return undefined;
  }
}

// Nothing that a host writes belongs to whoever runs the tests, and it sees nothing of theirs.
export async function make_home(place) {
  const home = join(place.directory, 'home');
  const work = join(home, 'work');
  await mkdir(work, { recursive: true });
  const environment = { PATH: process.env.PATH, HOME: home, TMPDIR: home, LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1', CI: '1' };
  return { home, work, environment };
}

export class Program {
  #said = '';

  constructor(command, args, { work, environment }) {
    this.child = spawn(command, args, { cwd: work, env: environment, timeout: kPatience, killSignal: 'SIGKILL' });
    process.once('exit', () => this.child.kill('SIGKILL'));
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => { this.#said += text; });
    }
    this.child.stdin.on('error', () => {}); // it has ended, and its code says more
    this.ended = new Promise((resolve, reject) => this.child.once('error', reject).once('close', resolve));
  }

  // On both of its outputs, so far.
  get said() {
    return this.#said;
  }

  say(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  // Ends its input, and waits for its end. Fails, with what it has said, if that is an error.
  async end() {
    this.child.stdin.end();
    const code = await this.ended;
    if (code !== 0) throw new Error(`the host ended with ${code}:\n${this.#said.slice(-4000)}`);
  }
}
