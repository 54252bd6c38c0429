// Waits for what no event tells of.
import { setTimeout as pause } from 'node:timers/promises';

const kPatience = 10_000; // ms; far above what anything here takes

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
