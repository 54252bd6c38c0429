// What every host must be able to do with the board, told from its model's side. With the whole interface: load, run,
// abort, ask for the size of the KV cache, unload. With the few tools of the chat set: find a model, talk to it, unload
// it. And that the model sees at every step what it needs for the next.
import assert from 'node:assert/strict';

import { kEndlessPrompt, kLongPrompt, kModelName, kShortPrompt } from './place.mjs';
import { tool_complaints } from './tools.mjs';

const kTries = 5;
const kStopped = /aborted|cancelled before it began/;

// Uses the board with the tools that the host calls name_of(C name).
//
// A run is aborted by a call of the same turn, if the host carries out all calls of a turn `at_once`; or by interrupt(),
// which makes the host stop, and ask the model again. `beside`: arguments by which the host is asked to carry out a call
// at once. `lost`: as in tool_complaints.
export async function use_the_board(model, place, options) {
  const { name_of = (name) => name, at_once = true, interrupt, beside, lost } = options;
  const { model_path, expected } = place;
  const complaints = tool_complaints(await model.tools(), expected.tools, name_of, lost);
  const call = async (...calls) => model.call(...calls.map(([name, args]) => [name_of(name), args]));

  const [loaded] = await call(['rkllm_init', { param: { model_path, max_context_len: 4096 } }]);
  const handle = /\bllm-\d+\b/.exec(loaded)?.[0];
  assert.ok(handle, `rkllm_init names no handle: ${loaded}`);

  const run = (prompt_input) => ['rkllm_run', { handle, rkllm_input: { prompt_input } }];
  const abort = ['rkllm_abort', { handle, ...beside }];
  if (interrupt) {
    const interrupted = call(run(kEndlessPrompt));
    await place.until_running(handle, true);
    interrupt();
    assert.doesNotMatch((await interrupted)[0], /simulated/);
    await place.until_running(handle, false);
    assert_status((await call(abort))[0]); // although nothing runs
  } else if (at_once) {
    let begun;
    for (let tries = 0; tries < kTries && !kStopped.test(begun); ++tries) { // the two may arrive in either order
      const [ended, aborted] = await call(run(kLongPrompt), abort);
      assert_status(aborted);
      begun = ended;
    }
    assert.match(begun, kStopped);
  } else {
    assert_status((await call(abort))[0]);
  }

  const [answer] = await call(run(kShortPrompt));
  assert.ok(unescaped(answer).includes(expected.text), `the model is not shown "${expected.text}", but: ${answer}`);
  const [size] = await call(['rkllm_get_kv_cache_size', { handle }]);
  assert.match(unescaped(size), new RegExp(`"cache_sizes":\\s*\\[\\s*${expected.kv_size}\\s*\\]`));

  assert_status((await call(['rkllm_destroy', { handle }]))[0]);
  const [refused] = await call(['rkllm_get_kv_cache_size', { handle }]);
  assert.match(refused, /handle/, 'the model is not told that the handle is gone');
  assert.doesNotMatch(unescaped(refused), /"cache_sizes"/);

  const [models] = await call(['list_models', {}]);
  assert.ok(models.includes(kModelName), `the model is not shown that there is "${kModelName}", but: ${models}`);
  const [said] = await call(['chat', { model: kModelName, message: kShortPrompt, max_tokens: 64 }]);
  assert.ok(unescaped(said).includes(expected.said), `the model is not shown "${expected.said}", but: ${said}`);
  const [status] = await call(['status', {}]);
  assert.ok(status.includes(kModelName), `the model is not shown that "${kModelName}" is loaded, but: ${status}`);
  const [unloaded] = await call(['unload_model', { model: kModelName }]);
  assert.doesNotMatch(unloaded, /error/i);
  assert.deepEqual(complaints, []);
}

// Results may come as they are, or as JSON within JSON.
const unescaped = (text) => text.replaceAll('\\', '');

function assert_status(result) {
  assert.match(unescaped(result), /"status":\s*0/);
}
