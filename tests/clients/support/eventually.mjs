// Waits for what no event tells of.
import { setTimeout as pause } from 'node:timers/promises';

const kPatience = 60_000; // ms; far above what anything here takes

// Asks again and again until the answer is true in JavaScript's sense, and gives it.
export async function eventually(question, patience = kPatience) {
  const started = performance.now();
  for (;;) {
    const answer = await question();
    if (answer) return answer;
    if (performance.now() - started > patience) throw new Error(`not after ${patience} ms: ${question}`);
    await pause(10);
  }
}

// The least time, in ms, that `measure` gives in up to five attempts, of which the first below `limit` is the last: a busy
// machine may hold up one of them, but what is slow by itself is slow in all.
export async function at_best(limit, measure) {
  let least = Infinity;
  for (let attempt = 0; attempt < 5 && least >= limit; ++attempt) least = Math.min(least, await measure());
  return least;
}
