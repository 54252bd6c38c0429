// Lets a host use the board, and says what became of it.
import { Place } from './place.mjs';
import { ScriptedModel } from './scripted_model.mjs';
import { use_the_board } from './story.mjs';

// body(place, model) makes a host ask the model until it has said its last word. `uses`: how the board is used, as
// use_the_board's options say, once for each.
export async function with_board(uses, body) {
  const place = await Place.make();
  const model = await ScriptedModel.start(async (model) => {
    for (const use of [uses].flat()) await use_the_board(model, place, use);
    return 'Done.';
  });
  try {
    await body(place, model);
    const error = await Promise.race([model.ended, Promise.resolve(new Error('the host ended before the script'))]);
    if (error) throw error;
  } catch (error) {
    if (process.env.TRACE) console.error(JSON.stringify(model.requests, null, 1));
    throw error;
  } finally {
    model.stop();
    await place.remove();
  }
}
